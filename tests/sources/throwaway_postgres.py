"""A PostgreSQL server of our own: on loopback, run by an unprivileged user, gone when it is no longer needed."""

from __future__ import annotations

import glob
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def programs() -> Path | None:
    """Where PostgreSQL's programs are, newest version first; None where it is not installed."""
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else [Path(path) for path in glob.glob("/usr/lib/postgresql/*/bin")]
    return max(folders, default=None)


@contextmanager
def server(folder: Path) -> Iterator[dict[str, Any]]:
    """How to connect to it."""
    with tempfile.TemporaryDirectory(prefix="calcert-postgres-") as home:
        run = _runner(folder, home)
        run("initdb", "-A", "trust", "-U", "calcert", "-E", "UTF8", "--no-locale", "-N")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off"
        run("pg_ctl", "-w", "-o", options, "-l", f"{home}/log", "start")
        try:
            yield {"host": "127.0.0.1", "port": port, "user": "calcert", "database": "postgres", "password": "none"}
        finally:
            run("pg_ctl", "-m", "immediate", "stop")


def _runner(folder: Path, home: str) -> Callable[..., None]:
    """Runs a program of PostgreSQL, which refuses to run as root."""
    someone: dict[str, Any] = {}
    if os.geteuid() == 0:
        names = [entry.pw_name for entry in pwd.getpwall()]
        user = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
        someone = {"user": user.pw_uid, "group": user.pw_gid}
        os.chown(home, user.pw_uid, user.pw_gid)

    def run(program: str, *arguments: str) -> None:
        command = [str(folder / program), "-D", f"{home}/data", *arguments]
        subprocess.run(command, check=True, cwd=home, stdout=subprocess.DEVNULL, **someone)

    return run
