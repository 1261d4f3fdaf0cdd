"""The command line: `throng`, and `python -m throng`."""

import sys

from ._throng import main as run


def main() -> int:
    return run(sys.argv)


if __name__ == "__main__":
    sys.exit(main())
