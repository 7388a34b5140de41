"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from calcert.foundation.regular_file import check_replaceable


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """A path beside `target` to write to; it takes the name of `target` when the block ends well, else it is removed.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "answer.txt"
    >>> with replacing(target) as unfinished:
    ...     _ = unfinished.write_text("42")
    >>> target.read_text()
    '42'
    """
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{target} must lie in a folder that exists; there is no {target.parent}.")
    check_replaceable(target)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    os.close(handle)
    unfinished = Path(name)
    try:
        yield unfinished
        # mkstemp lets nobody else read; a result is as readable as any new file.
        mask = os.umask(0)
        os.umask(mask)
        unfinished.chmod(0o666 & ~mask)
        os.replace(unfinished, target)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
