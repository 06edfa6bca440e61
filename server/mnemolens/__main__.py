"""`python -m mnemolens`."""

import sys

from mnemolens.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
