"""`python -m meshcap`: the command line."""

import sys

from meshcap.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
