"""Logs of language models as their tools write them: a row per answer, and the columns that the tools define.

lm-evaluation-harness writes ``samples_*.jsonl``, a line per document and filter; inspect_ai has a file of its own.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

from calcert.foundation.refusal import Argument, WrongValue, about_files
from calcert.foundation.refusal import reading as reading_argument
from calcert.sources.files.inspect_log import ARCHIVE, INSPECT_HEAD, QUESTION, InspectLog
from calcert.sources.files.json_file import JsonFile
from calcert.sources.files.paths import resolve
from calcert.sources.files.text_bytes import Record
from calcert.sources.parsed_values import Reading, label_in_cell, score_in_cell
from calcert.sources.source_argument import Files

CONFIDENCE = "choice_confidence"
"""Of lm-evaluation-harness: the softmax over the log-likelihoods of all choices, at the largest."""

JUDGED = ("acc", "exact_match")
OTHER_ANSWERS = ("acc_norm", "acc_bytes", "acc_mutual_info", "exact_match")
"""Metrics of lm-evaluation-harness that judge the answer, and those that judge another than the likeliest choice."""

LM_EVAL_KEYS = {"doc_id", "doc", "arguments", "resps", "filtered_resps"}
LM_EVAL_TOTALS = re.compile(r'\s*\{\s*"results"\s*:\s*\{')


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


@about_files
def said_by_logs(
    files: Files, score: str | None, label: str | None, clusters: object, *, independent: bool
) -> dict[str, str]:
    """The columns of scores, labels and clusters, where files are logs; those that were left out, with a remark.

    Answers to a question that was asked several times are a cluster, unless somebody says that they are `independent`.
    """
    logs = _logs(files)
    if independent and (clusters is not None or not logs):
        got = f"clusters={clusters!r}" if clusters is not None else "other files, whose rows are independent anyhow"
        raise TypeError(f"independent must come with logs of a language model, and without clusters; got {got}.")
    if not logs:
        return {}
    found = dict(zip(("score", "label"), logs[0].choose(score, label), strict=True))
    if score is None or label is None:
        files.remarks.append("scores from {!r}, labels from {!r}".format(*found.values()) + logs[0].meaning)
    asked = Counter(chain.from_iterable(log.questions() for log in logs))
    if clusters is None and not independent and max(asked.values(), default=0) > 1:
        found["clusters"] = "question"
        files.remarks.append(
            "questions were asked several times, so that answers to one question are a cluster (clusters='question'); "
            "if they are independent, say so: independent=True (--independent)"
        )
    files.from_logs = {name: column for name, column in found.items() if column not in (score, label)}
    return found


def _logs(files: Files) -> list[InspectLog | LmEvalLog]:
    """The files as logs of one tool; none where they are other files."""
    if not files.may_be_logs:
        return []
    try:
        paths, form = resolve(files)
    except (OSError, ValueError):  # Said again, in its place, when rows are read.
        return []
    found = [json_file_of(path, files.spelling) for path in paths] if form == "json" else []
    logs = [file for file in found if isinstance(file, InspectLog | LmEvalLog)]
    other = next((file for file in found if type(file) is not type(found[0])), None)
    if logs and other is not None:
        raise ValueError(
            f"all files must be logs of one tool; got {found[0].name} and {other.name}, which are not. Summarise them "
            "apart and add the summaries with +."
        )
    return logs
