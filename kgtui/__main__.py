"""The program `kgtui`, and `python -m kgtui`."""

from __future__ import annotations

import sys

from kgtui.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
