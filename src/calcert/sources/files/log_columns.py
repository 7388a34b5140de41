"""What a log of a language model says where nobody did: its columns, and whether questions were asked several times."""

from __future__ import annotations

import os
from collections import Counter
from itertools import chain

from calcert.foundation.refusal import about_files
from calcert.sources.files.model_logs import InspectLog, LmEvalLog, json_file_of
from calcert.sources.files.paths import SUFFIXES, resolve
from calcert.sources.files.reading_account import Files


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
    if SUFFIXES.get(os.path.splitext(files[0])[1].lower(), "json") != "json":
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
