"""``python -m raxis.ptir``."""

import sys

from raxis.ptir.tools.command_line import main

if __name__ == "__main__":
    sys.exit(main())
