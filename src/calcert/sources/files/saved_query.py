"""The result of the query of ``calcert sql``, saved as CSV: a Summary already."""

from __future__ import annotations

import os
from collections.abc import Sequence

from calcert.sources.clusters.weighing_options import Weighing
from calcert.sources.files.csv_file import CsvFile
from calcert.summary.query_result import CLUSTER_COLUMNS, COLUMNS
from calcert.summary.summary import Summary


def saved_query(paths: Sequence[str], sampling: Weighing) -> Summary | None:
    """The Summary in the one file that is such a result; None where it is none."""
    if len(paths) != 1 or not _is_query_result(paths[0]):
        return None
    file = CsvFile(paths[0])
    here = {name.lower(): name for name in file.header().names}
    try:
        known = CLUSTER_COLUMNS if len(here) == len(CLUSTER_COLUMNS) else COLUMNS
        rows = [values for _, values in file.rows([here[name] for name in known])]
        # Databases write a score that is not there as nothing, NULL or \N.
        lines = [dict(zip(known, values, strict=True)) for values in rows]
        read = [{name: _score_or_null(v) if name == "score" else int(v) for name, v in line.items()} for line in lines]
        return Summary.from_cells(read, **{name: getattr(sampling, name) for name in sampling.given})
    except (TypeError, ValueError) as error:
        raise ValueError(f"{file.name} must be the whole result of the query of calcert sql: {error}") from error


def _is_query_result(path: str) -> bool:
    """True where a CSV file has the columns that the query of ``calcert sql`` returns, in any order."""
    # Whatever cannot be read is no such result, and whoever reads it next says why.
    if not path.lower().endswith(".csv") or not os.path.isfile(path) or not os.access(path, os.R_OK):
        return False
    try:
        return {name.lower() for name in CsvFile(path).header().names} in (set(COLUMNS), set(CLUSTER_COLUMNS))
    except ValueError:
        return False


def _score_or_null(text: str) -> float | None:
    return None if text.strip().lower() in ("", "null", "\\n", "none") else float(text)
