"""Logs of inspect_ai: ``.eval``, a zip archive with a file per sample, or the same as one ``.json``.

An archive is read member by member, and nothing is written to disk.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any

from calcert.foundation.escaped_text import visible
from calcert.foundation.long_work import load
from calcert.foundation.refusal import WrongValue
from calcert.foundation.refusal import reading as reading_argument
from calcert.sources.columns import SCORE_NAMES
from calcert.sources.files.json_file import DECODER, JsonFile, Window
from calcert.sources.files.text_bytes import Record, opened
from calcert.sources.parsed_values import label_in_cell, score_in_cell
from calcert.sources.signs_of_dependence import LOOKED_AT

INSPECT_HEAD = re.compile(r'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:\s*"\w+"\s*,\s*"eval"\s*:\s*\{')

ARCHIVE = ".eval"

VALUE = re.compile(r"scores\.[^.]+\.value(\.[^.]+)?")
"""What a scorer found, or one of several things."""

KEPT = (
    *("id", "epoch", "target", "choices", "scores", "metadata", "store", "output", "model_usage"),
    *("total_time", "working_time", "uuid"),
)
"""What is taken of a sample: messages, events and attachments may be large, and are not columns."""

GRADES = {"C": 1, "I": 0, "P": 0.5, "N": 0}
"""How inspect_ai counts correct, incorrect, partial and no answer."""


PARTIAL = reading_argument("drop_missing", True)

SAMPLE = re.compile(r"samples/.+_epoch_\d+\.json", re.DOTALL)
CHUNKED = re.compile(r"samples/.+_epoch_\d+/sample\.json", re.DOTALL)
STORED, DEFLATED, ZSTANDARD = 0, 8, 93
"""How members of an archive are compressed."""

LARGEST = 1 << 27
"""Characters of one sample."""

MOST_EXPANSION, SMALL_ARCHIVE = 500, 1 << 30
"""Archives of more bytes than the second, unpacked, must not have more than so many for each of their own."""

QUESTION = "question"
"""What was asked: one value for all answers to it."""


def grade(value: Any) -> float:
    """A label of inspect_ai: C, I, P or N, a number, true or false."""
    return GRADES[value] if isinstance(value, str) and value in GRADES else label_in_cell(value)


class InspectLog(JsonFile):
    """Samples of a log of inspect_ai; with `partial`, it need not be finished, and invalid samples have no scores."""

    meaning = " (C is 1, I and N are 0)"
    score_reader, label_reader = staticmethod(score_in_cell), staticmethod(grade)

    def __init__(self, path: str, encoding: str, *, partial: bool) -> None:
        super().__init__(path, encoding)
        self._partial = partial
        self._places: list[str] = []

    def place(self, number: int) -> str:
        """Where a sample stands, in words; they are counted from 1."""
        return f"in sample {self._places[number - 1]} of {self.name}"

    def questions(self) -> list[str]:
        """The task, as often as it was asked: epochs, of one log or of several."""
        with self._opened_log() as (header, _):
            about = header.get("eval")
        about = about if isinstance(about, dict) else {}
        config = about.get("config")
        epochs = config.get("epochs") if isinstance(config, dict) else None
        return [str(about.get("task"))] * (2 if isinstance(epochs, int) and epochs > 1 else 1)

    def choose(self, score: str | None, label: str | None) -> tuple[str, str]:
        """The columns of scores and labels, as they were named, or the only ones that may be meant."""
        if score is not None and label is not None:
            return score, label
        columns = [name for name, _ in self.sample(LOOKED_AT) if name.startswith(("scores.", "metadata.", "store."))]
        if score is None:
            parts = {name: name.removesuffix(".value").rpartition(".")[2].lower() for name in columns}
            found = [name for name, part in parts.items() if part in SCORE_NAMES.split() and name != label]
            score = self._only("score", found, columns)
        if label is None:
            judged = [name for name in columns if VALUE.fullmatch(name) and name != score]
            label = self._only("label", judged, columns)
        return score, label

    def _only(self, argument: str, found: list[str], columns: list[str]) -> str:
        if len(found) == 1:
            return found[0]
        what = "several columns may be meant" if found else "no column of scores, metadata or store is named like one"
        shown = ", ".join(map(repr, (found or columns)[:20])) or "none"
        raise ValueError(
            f"{argument} must be named for {self.name}: {what}: {shown}. Pass {argument}='...' (--{argument})."
        )

    @contextmanager
    def _opened(self) -> Iterator[Iterator[Record]]:
        with self._opened_log() as (header, samples):
            yield self._records(header, samples)

    @contextmanager
    def _opened_log(self) -> Iterator[tuple[dict[str, Any], Iterator[Any]]]:
        if self.path.lower().endswith(ARCHIVE):
            with LogArchive(self.path, self.name) as archive:
                yield archive.header(), archive.samples()
        else:
            with opened(self.path, "\n", self.encoding) as (text, self.content):
                window = Window(text, self.name, "a log of inspect_ai", LARGEST)
                header = _header(window)
                yield header, window.items() if window.mark() == "[" else iter(())

    def _records(self, header: dict[str, Any], samples: Iterator[Any]) -> Iterator[Record]:
        status, about = header.get("status", "started"), header.get("eval")
        if not isinstance(about, dict):
            raise ValueError(f"{self.name} must be a log of inspect_ai; got one without the object 'eval'.")
        if status != "success" and not self._partial:
            way = ("Finish it (inspect eval-retry), or pass ", PARTIAL, " to certify the samples that it has.")
            raise WrongValue(self.name, "must be a finished log", f"one of status {status!r}", "", way)
        self._places = []
        seen: set[tuple[str, str]] = set()
        for sample in samples:
            if not isinstance(sample, dict):
                raise ValueError(f"every sample of {self.name} must be a JSON object; got {repr(sample)[:60]}.")
            key = str(sample.get("id")), str(sample.get("epoch"))
            self._places.append(visible(f"{key[0][:40]!r}, epoch {key[1][:9]},"))
            where = self.place(len(self._places))
            if None in (sample.get("id"), sample.get("epoch")):
                raise ValueError(f"every sample must have an id and an epoch; got {' and '.join(key)[:60]} {where}.")
            if key in seen:
                raise ValueError(f"every sample must be there once for each epoch; got one again {where}.")
            seen.add(key)
            if sample.get("invalidation") and not self._partial:
                raise WrongValue("samples", "must be valid", "one marked invalid", where, ("Pass ", PARTIAL, "."))
            values = {name: sample[name] for name in KEPT if name in sample}
            if sample.get("invalidation"):
                values["scores"] = {}
            values |= {"task": about.get("task"), "model": about.get("model")}
            values[QUESTION] = f"{about.get('task')}: {key[0]}"
            yield Record(len(self._places), "", values)
        results = header.get("results")
        counts = (
            [results.get(name) for name in ("logged_samples", "total_samples")] if isinstance(results, dict) else []
        )
        promised = next((count for count in counts if isinstance(count, int)), len(seen))
        if promised != len(seen) and not self._partial:
            way = ("If it was copied, copy it again; ", PARTIAL, " certifies the samples that it has.")
            got = f"{len(seen):,} of {promised:,}"
            raise WrongValue(self.name, "must hold all samples that it counts", got, "", way)


def _header(window: Window) -> dict[str, Any]:
    """What stands before the samples of a ``.json`` log, which are next."""
    found: dict[str, Any] = {}
    mark = window.pass_mark("{")
    while mark != "}":
        name = window.value()
        window.pass_mark(":")
        if name == "samples":
            return found
        found[str(name)] = window.value()
        mark = window.pass_mark(",}")
    return found


class LogArchive:
    """The members of an archive, of which one is in memory at a time."""

    def __init__(self, path: str, name: str) -> None:
        self._path, self._name = path, name

    def __enter__(self) -> LogArchive:
        self._file = open(self._path, "rb")
        try:
            self._members = zipfile.ZipFile(self._file).infolist()
            self._check_members()
        except (zipfile.BadZipFile, EOFError, OSError, NotImplementedError, ValueError, OverflowError) as error:
            self._file.close()
            raise self._refused(str(error)) from error
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def _check_members(self) -> None:
        size = self._file.seek(0, 2)
        names = [member.filename for member in self._members]
        unpacked = sum(member.file_size for member in self._members)
        name, times = Counter(names).most_common(1)[0] if names else ("", 0)
        if times > 1:
            raise ValueError(f"it holds {visible(name)!r} twice")
        if sum(member.compress_size for member in self._members) > size:
            raise ValueError("its members overlap")
        if unpacked > max(SMALL_ARCHIVE, MOST_EXPANSION * size):
            raise ValueError(f"{size:,} bytes would become {unpacked:,}")

    def header(self) -> dict[str, Any]:
        """``header.json`` or, where the log was not finished, what stood there when it began."""
        known = {member.filename: member for member in self._members}
        member = known.get("header.json") or known.get("_journal/start.json")
        if member is None:
            raise self._refused("it has neither 'header.json' nor '_journal/start.json'")
        found = self._json(member)
        if not isinstance(found, dict):
            raise self._refused(f"{member.filename!r} is not an object")
        return found

    def samples(self) -> Iterator[Any]:
        """All samples, in the order of the archive."""
        for member in self._members:
            if CHUNKED.fullmatch(member.filename):
                raise self._refused("its samples are in chunks. Write it again with inspect log convert --to eval")
            if SAMPLE.fullmatch(member.filename):
                yield self._json(member)

    def _json(self, member: zipfile.ZipInfo) -> Any:
        shown = visible(member.filename[:80])
        try:
            return DECODER.decode(self._content(member).decode())
        except RecursionError:
            raise self._refused(f"{shown!r} is nested too deeply") from None
        except (ValueError, OSError, EOFError, zlib.error) as error:
            raise self._refused(f"{shown!r}: {error}") from error

    def _content(self, member: zipfile.ZipInfo) -> bytes:
        """The bytes of a member, which must be as many as it says, with its checksum, and not too many."""
        if member.file_size > LARGEST:
            raise ValueError(f"it would have {member.file_size:,} bytes, and {LARGEST:,} are read at most")
        self._file.seek(member.header_offset)
        head = self._file.read(30)
        if len(head) < 30 or member.flag_bits & 1:
            raise ValueError("it is cut off, or encrypted")
        self._file.seek(int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little"), 1)
        packed, most = self._file.read(member.compress_size), member.file_size + 1
        if member.compress_type == ZSTANDARD:  # What inspect_ai writes; the standard library of older Pythons lacks it.
            found = bytes(load("pyarrow").CompressedInputStream(BytesIO(packed), "zstd").read(most))
        elif member.compress_type == DEFLATED:
            found = zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, most)
        elif member.compress_type == STORED:
            found = packed
        else:
            raise ValueError(f"it is compressed by method {member.compress_type}, which is not read")
        if len(found) != member.file_size or zlib.crc32(found) != member.CRC:
            raise ValueError("it does not have its size and checksum")
        return found

    def _refused(self, why: str) -> ValueError:
        return ValueError(
            f"{self._name} must be a whole log of inspect_ai; {why.rstrip('.')}. If it was copied, copy it again."
        )
