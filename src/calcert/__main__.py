"""The program: ``calcert``, or ``python -m calcert`` where no script is on the path."""

from __future__ import annotations

import sys
from typing import NoReturn

from calcert.foundation.long_work import uninterrupted

CANNOT_START = 70
INTERRUPTED = 130


def run() -> NoReturn:
    """Run the command line; an installation that cannot start says so, with a code that means nothing else.

    Python's own code for that would be 1, by which ``calcert check`` says that nothing is certified.
    """
    try:
        # Interrupted in the middle, NumPy would say that it is broken: Ctrl-C waits until all is there.
        with uninterrupted():
            from calcert.cli import main
    except KeyboardInterrupt:
        print("\nInterrupted; nothing was left half-written.", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except Exception as error:
        print(
            f"calcert cannot start: {type(error).__name__}: {error}\n"
            "A library that it needs is missing or too old. Install calcert again with pip install --upgrade, which "
            "brings what it needs.",
            file=sys.stderr,
        )
        sys.exit(CANNOT_START)
    main(prog_name="calcert")
    sys.exit(0)


if __name__ == "__main__":
    run()
