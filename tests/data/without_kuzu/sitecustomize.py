"""Run by `pytest --without-kuzu` and by every process that it starts: kuzu can't be found there."""

import sys


class _Blocked:
    """A finder that has the first word; `sys.modules` says nothing, for tests look there who imports what."""

    @staticmethod
    def find_spec(name, _path=None, _target=None):
        if name == "kuzu":
            raise ModuleNotFoundError("No module named 'kuzu'", name="kuzu")


sys.meta_path.insert(0, _Blocked)
