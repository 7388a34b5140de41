"""Sources: anything that holds rows, and how it becomes a Summary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from calcert.sources.arrays import summarize_arrays
from calcert.sources.source_argument import Source, refuse_ignored, source_of
from calcert.sources.units.weighing_options import Weighing
from calcert.summary.summary import Summary

if TYPE_CHECKING:
    from calcert.sources.classes.class_rows import ClassRows


def summarize(
    scores: Any,
    labels: Any = None,
    *,
    score: str | None = None,
    label: str | None = None,
    clusters: Any = None,
    weights: Any = None,
    counts: Any = None,
    largest_weight: float | None = None,
    largest_gain: float | None = None,
    weight_unit: float | None = None,
    soft_labels: bool = False,
    pair_sums: bool = False,
) -> Summary:
    """Read all rows once and return their Summary, the same one to the last bit from every kind of source.

    Parameters
    ----------
    scores
        Scores in [0, 1]: a list, or a NumPy, pandas, polars, pyarrow or torch (CPU) one-dimensional array. Or a whole
        table that holds scores and labels: the path of a Parquet, CSV, TSV or JSON-lines file (compressed or not), a
        glob, a folder or a list of files; a pandas, polars or pyarrow data frame; a DuckDB relation, a polars lazy
        frame, a PySpark or Dask data frame or an Ibis table, which compute the Summary where the rows are. A Summary
        is returned as it is.
    labels
        Labels 0/1 or bool, same length, any of the same types; left out for a table.
    score, label
        Names of the columns of a table. A name left out is found if exactly one pair of columns is plausible, and the
        logger ``calcert`` says which.
    clusters
        What each row belongs to, where rows of one user, patient or session come together: rows of different clusters
        are independent, rows of one need not be. An array of any values, or a column of the table.
    weights
        How much each row counts, in whole multiples of `weight_unit`; an array, or a column of the table.
    counts
        How many independent, equal rows each line stands for; an array. Not a weight.
    largest_weight
        A bound, known before the rows were seen, on the weight of a row, or of all rows of a cluster. To be given where
        weights depend on labels or scores: bounds then speak of the population that the weights stand for.
    largest_gain
        A bound, known likewise, on the weight times the distance of label and score, added up over a cluster.
    weight_unit
        What all weights are whole multiples of; 1 where it is left out, 1/12600 for soft labels.
    soft_labels
        True where labels are shares between 0 and 1: ties, or votes of several annotators.
    pair_sums
        True to keep how gains of rows of one cluster go together, where rows are in memory or in files: bounds are
        narrower where rows of a cluster depend little on each other. Rows are held in memory meanwhile, and a Summary
        takes 400 kB more. To be decided before the rows are seen.

    Examples
    --------
    >>> calcert.summarize([0.1, 0.8, 0.8], [0, 1, 0])
    Summary of 3 rows: base rate 0.3333, mean score 0.5667, 2 cells, 2 distinct scores
    >>> calcert.summarize([0.1, 0.8, 0.8], [0, 1, 0], clusters=["ann", "ann", "bob"])
    Summary of 3 rows in 2 clusters: base rate 0.3333, mean score 0.5667, 2 cells, 2 distinct scores
    >>> import polars
    >>> frame = polars.DataFrame({"p": [0.1, 0.8, 0.8], "y": [False, True, False]})
    >>> calcert.summarize(frame.lazy(), score="p", label="y")
    Summary of 3 rows: base rate 0.3333, mean score 0.5667, 2 cells, 2 distinct scores
    """
    source = source_of(scores)
    refuse_ignored(source, labels, score, label)
    weighing = Weighing(clusters, weights, counts, largest_weight, largest_gain, weight_unit, soft_labels, pair_sums)
    if weighing.given:
        return _weighed(source, labels, score, label, weighing)
    # Files and engines have imports of their own: only those who bring them pay.
    if source.kind == "files":
        from calcert.sources.files.files import summarize_files

        return summarize_files(source.value, score, label)
    if source.kind == "table":
        from calcert.sources.engines.tables import summarize_table

        return summarize_table(source.value, score, label)
    return scores if isinstance(scores, Summary) else summarize_arrays(scores, labels)


def _weighed(source: Source, labels: Any, score: str | None, label: str | None, weighing: Weighing) -> Summary:
    if source.kind == "summary":
        raise TypeError(f"{weighing.given[0]} must come with rows; got a Summary. Say it where they are summarised.")
    if source.kind == "arrays":
        from calcert.sources.units.weighed_arrays import weigh_arrays

        return weigh_arrays(source.value, labels, weighing)
    if source.kind == "files":
        from calcert.sources.units.weighed_files import weigh_files

        return weigh_files(source.value, score, label, weighing)
    from calcert.sources.units.weighed_tables import weigh_table

    return weigh_table(source.value, score, label, weighing)


def rows_of_classes(
    scores: Any,
    labels: Any,
    *,
    groups: Any,
    smallest_group: int,
    score: str | None,
    label: str | None,
    class_columns: Any,
    class_names: Any,
    weighing: Mapping[str, Any],
) -> ClassRows | None:
    """The rows of a classifier with many classes, in an array or, where columns are named, in a table; else None."""
    if class_columns is None and class_names is None and (groups is not None or not _has_many_classes(scores)):
        return None
    from calcert.sources.classes.class_reader import read_classes
    from calcert.sources.classes.class_rows import rows_of_arrays

    source = source_of(scores)
    refuse_ignored(source, labels, score, label)
    _refuse_beside_classes(groups, smallest_group, score, weighing)
    if class_columns is not None:
        return read_classes(source, class_columns, label, class_names)
    if not _has_many_classes(source.value):
        raise TypeError(
            "class_names must come with an array of shape (rows, K), K > 2, or with class_columns; got "
            f"{type(source.value).__name__} without them."
        )
    return rows_of_arrays(source.value, labels, class_names)


def _refuse_beside_classes(groups: Any, smallest_group: int, score: str | None, weighing: Mapping[str, Any]) -> None:
    """What does not go together with classes."""
    if score is not None:
        raise TypeError(f"score must not come with classes, each of which has scores of its own; got {score!r}.")
    given = [key for key, value in weighing.items() if value is not None and value is not False]
    given += ["groups"] * (groups is not None) + ["smallest_group"] * (smallest_group != 1)
    if given:
        raise TypeError(
            f"{given[0]} must not come with classes: not proved together. Certify each apart, at its share of delta: "
            f"calcert.certify(..., {given[0]}=..., delta=delta / number)."
        )


def _has_many_classes(scores: Any) -> bool:
    """True for arrays and tensors of shape (rows, K), K > 2; a table is none of them."""
    shape: tuple[int, ...] = getattr(scores, "shape", (0,))
    return len(shape) == 2 and shape[-1] > 2 and not hasattr(scores, "columns")
