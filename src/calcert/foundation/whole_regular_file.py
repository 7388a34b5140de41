"""Files that appear whole or not at all, and only where a regular file may be read or replaced.

A pipe or a device may keep its reader waiting for ever, and is no place for a result.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from calcert.foundation.escaped_text import visible


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """A path beside `target` to write to, which takes its name when the block ends well and is removed else."""
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


KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
    stat.S_IFDIR: "a folder",
}


def check_regular(file: str | os.PathLike[str]) -> None:
    """A path must lead to a regular file to be read."""
    try:
        found = kind_of(file)
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ELOOP):
            raise
        words = "a link that leads nowhere" if os.path.lexists(file) else "a name that nothing has"
        raise FileNotFoundError(f"{visible(os.fspath(file))} must be a file; got {words}.") from None
    if found is not None:
        raise ValueError(
            f"{visible(os.fspath(file))} must be a regular file; got {found}. Save what it holds to a file first, or "
            "pipe it into a command that is given - for a file."
        )


def check_replaceable(file: str | os.PathLike[str]) -> None:
    """Where a result is written, a regular file may stand, or nothing: it takes the place of what is there."""
    if os.path.exists(file) and (found := kind_of(file)) is not None:
        raise ValueError(
            f"{visible(os.fspath(file))} must be a regular file, or none yet, to be written; got {found}, whose place "
            "the result would take. Choose another name."
        )


def kind_of(file: str | os.PathLike[str]) -> str | None:
    """What a path leads to, in words; None for a regular file."""
    mode = stat.S_IFMT(os.stat(file).st_mode)
    return None if mode == stat.S_IFREG else KINDS.get(mode, "something else")
