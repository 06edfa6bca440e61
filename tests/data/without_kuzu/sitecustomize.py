"""On the path of every process that `pytest --without-kuzu` starts: kuzu can't be imported there."""

import sys

sys.modules["kuzu"] = None
