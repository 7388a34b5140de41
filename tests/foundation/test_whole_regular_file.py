"""Pipes and devices are neither waited for nor replaced by results."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import pytest

import calcert
from calcert import Summary
from calcert.foundation.whole_regular_file import check_regular, check_replaceable, replacing


def test_a_saved_summary_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="pipe must be a regular file; got a named pipe"):
        Summary.load(tmp_path / "pipe")
    with pytest.raises(ValueError, match="must be a regular file; got a folder"):
        Summary.load(tmp_path)
    with pytest.raises(ValueError, match="must be a regular file; got a device"):
        Summary.load(os.devnull)
    with pytest.raises(FileNotFoundError, match="must be a file; got a name that nothing has"):
        Summary.load(tmp_path / "none")
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(FileNotFoundError, match="must be a file; got a link that leads nowhere"):
        check_regular(tmp_path / "link")


def test_a_result_takes_the_place_of_regular_files_alone(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    summary = calcert.summarize([0.25], [1])
    with pytest.raises(ValueError, match="pipe must be a regular file, or none yet, to be written; got a named pipe"):
        summary.save(pipe)
    with pytest.raises(ValueError, match="got a named pipe"):
        calcert.certify(summary).to_html(pipe)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert os.listdir(tmp_path) == ["pipe"]
    with pytest.raises(ValueError, match="got a device"):
        check_replaceable(os.devnull)
    with pytest.raises(ValueError, match="got a folder"), replacing(tmp_path):
        pass


def test_a_socket_is_called_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("s")
        with pytest.raises(ValueError, match="got a socket"):
            check_regular("s")
