"""Logs of language models as their tools write them: a row per answer, and the columns that the tools define.

lm-evaluation-harness writes ``samples_*.jsonl``, a line per document and filter; inspect_ai writes ``.eval``, a zip
archive with a file per sample, or the same as one ``.json``.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from calcert.foundation.escaped_text import visible
from calcert.foundation.refusal import Argument, WrongValue
from calcert.foundation.refusal import reading as reading_argument
from calcert.sources.columns import SCORE_NAMES
from calcert.sources.files.json_file import JsonFile, Record, Window
from calcert.sources.files.log_archive import LARGEST, LogArchive
from calcert.sources.files.text_bytes import opened
from calcert.sources.overlooked_columns import LOOKED_AT
from calcert.sources.parsed_values import Reading, label_in_cell, score_in_cell

CONFIDENCE = "choice_confidence"
"""Of lm-evaluation-harness: the softmax over the log-likelihoods of all choices, at the largest."""

QUESTION = "question"
"""What was asked: one value for all answers to it."""

JUDGED = ("acc", "exact_match")
OTHER_ANSWERS = ("acc_norm", "acc_bytes", "acc_mutual_info", "exact_match")
"""Metrics of lm-evaluation-harness that judge the answer, and those that judge another than the likeliest choice."""

LM_EVAL_KEYS = {"doc_id", "doc", "arguments", "resps", "filtered_resps"}
LM_EVAL_TOTALS = re.compile(r'\s*\{\s*"results"\s*:\s*\{')
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


class LmEvalLog(JsonFile):
    """Samples of lm-evaluation-harness, of one filter."""

    meaning = ""
    score_reader, label_reader = staticmethod(score_in_cell), staticmethod(label_in_cell)

    def __init__(self, path: str, encoding: str, wanted: str | None) -> None:
        super().__init__(path, encoding)
        self._filter = wanted

    def questions(self) -> list[str]:
        """What was asked: one document, one question, in however many files."""
        with self._opened() as records:
            return [record.values[QUESTION] for record in records]

    def choose(self, score: str | None, label: str | None) -> tuple[str, str]:
        """The columns of scores and labels, as they were named, or the only ones that may be meant."""
        with self._opened() as records:
            first = next(records, None)
        values = {} if first is None else first.values
        metrics = [name for name in values.get("metrics") or JUDGED if name in values]
        if score is None and CONFIDENCE not in values:
            wanted = f"must be named for {self.name}, whose answers are not choices with log-likelihoods"
            way = ("Pass the path of the confidence, such as ", Argument("score", "filtered_resps.0"), ".")
            raise WrongValue(Argument("score"), wanted, None, "", way)
        score = score or CONFIDENCE
        judged = [name for name in JUDGED[: 1 if score == CONFIDENCE else 2] if name in metrics]
        if label is None and len(judged) != 1:
            known = ", ".join(map(repr, metrics)) or "none"
            wanted = f"must be named for {self.name}, which has the metrics {known}"
            raise WrongValue(Argument("label"), wanted, None, "", ("Pass ", Argument("label", ...), "."))
        label = label or judged[0]
        if score == CONFIDENCE and label in OTHER_ANSWERS:
            raise ValueError(
                f"label must be 'acc' where the score is {CONFIDENCE!r}, the confidence in the choice of the largest "
                f"log-likelihood; got {label!r}, which judges another answer."
            )
        return score, label

    @contextmanager
    def _opened(self) -> Iterator[Iterator[Record]]:
        with super()._opened() as records:
            yield self._of_one_filter(records)

    def _of_one_filter(self, records: Iterator[Record]) -> Iterator[Record]:
        filters: dict[str, None] = {}
        seen: set[str] = set()
        for row, record in enumerate(records):
            name, where = str(record.values.get("filter")), self.place(record.line or row)
            filters[name] = None
            if self._filter not in (None, name):
                continue
            if self._filter is None and len(filters) > 1:
                first, second = filters
                got, way = f"{first!r} and {second!r}", ("Pass ", reading_argument("filter", first), ".")
                place = f"{where}, which judge the same answers"
                raise WrongValue(self.name, "must hold one filter, or one must be named", got, place, way)
            document = repr(record.values.get("doc_id"))
            if document in seen:
                raise ValueError(
                    f"every doc_id must be there once for each filter; got {document[:40]} again {where}. Two runs "
                    "may have been written into one file: keep one of them."
                )
            seen.add(document)
            confidence = _choice_confidence(record.values, where)
            added = {CONFIDENCE: confidence} if confidence is not None else {}
            told = record.values.get("doc_hash") or json.dumps(record.values.get("doc"), sort_keys=True)
            yield record._replace(values=record.values | added | {QUESTION: f"{document}: {told}"})
        if self._filter is not None and filters and self._filter not in filters:
            raise ValueError(
                f"filter must be one of {self.name}; got {self._filter!r}. It has {', '.join(map(repr, filters))}."
            )


def _choice_confidence(values: dict[str, Any], where: str) -> float | None:
    """The largest softmax over choices; None where answers are not choices."""
    answers = values.get("filtered_resps")
    if not isinstance(answers, list) or len(answers) < 2:
        return None
    if not all(isinstance(pair, list) and len(pair) == 2 and str(pair[1]) in ("True", "False") for pair in answers):
        return None
    if "acc_mutual_info" in (values.get("metrics") or ()):
        answers = answers[: len(answers) // 2]  # The others are log-likelihoods without the question.
    try:
        found = [float(pair[0]) for pair in answers]
    except (TypeError, ValueError):
        return None
    highest = max(found)
    if not all(number <= 0 for number in found) or highest == -math.inf:
        raise ValueError(
            f"log-likelihoods in filtered_resps must be at most 0, and one of them finite; got {found[:6]} {where}."
        )
    return 1 / math.fsum(math.exp(number - highest) for number in found)


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
                yield _header(window), _samples(window)

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


def _samples(window: Window) -> Iterator[Any]:
    if window.mark() != "[":
        return
    mark = window.pass_mark("[")
    if window.mark() == "]":
        return
    while mark != "]":
        yield window.value()
        mark = window.pass_mark(",]")


def json_file_of(path: str, reading: Reading) -> JsonFile:
    """A JSON file as what it is: a log of a tool, or objects in lines or in an array."""
    plain = JsonFile(path, reading.encoding)
    of_inspect = path.lower().endswith(ARCHIVE) or bool(INSPECT_HEAD.match(plain.head()))
    if not of_inspect and _first_keys(plain) >= LM_EVAL_KEYS:
        return LmEvalLog(path, reading.encoding, reading.filter)
    if not of_inspect and LM_EVAL_TOTALS.match(plain.head()):
        raise ValueError(
            f"{plain.name} must hold rows; got the totals of lm-evaluation-harness. Pass samples_*.jsonl, which it "
            "writes with --log_samples."
        )
    if reading.filter is not None:
        raise WrongValue(reading_argument("filter"), "must come with samples of lm-evaluation-harness", plain.name)
    return InspectLog(path, reading.encoding, partial=reading.drop_missing) if of_inspect else plain


def _first_keys(file: JsonFile) -> set[str]:
    """The keys of the first object; none where it cannot be read, which is said when its turn comes."""
    try:
        return {name.partition(".")[0] for name, _ in file.sample(1)}
    except ValueError:
        return set()
