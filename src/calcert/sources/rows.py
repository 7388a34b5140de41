"""Rows: where they are, which columns, how values are written and how the rows were sampled, said once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from calcert.foundation.refusal import Argument, Way, WrongType, WrongValue
from calcert.foundation.validation import check_count
from calcert.sources.arrays import second_column, summarize_arrays
from calcert.sources.clusters.weighing_options import Weighing
from calcert.sources.parsed_values import PLAIN, Reading
from calcert.sources.signs_of_dependence import RowOrder
from calcert.sources.source_argument import Account, Source, refuse_ignored, source_of
from calcert.summary.summary import Summary

if TYPE_CHECKING:
    from calcert.foundation.array_types import Floats, Integers
    from calcert.sources.classes.class_rows import ClassRows
    from calcert.sources.groups.grouped import Listed, Segments


LARGEST_GROUP = 1 << 53

SAMPLING = tuple(one.name for one in fields(Weighing))


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a classifier: where they are, and everything that must be said of them.

    Every function that reads rows takes an instance in place of scores and labels.

    Parameters
    ----------
    scores
        Scores in [0, 1]: a list, or a NumPy, pandas, polars, pyarrow or torch (CPU) one-dimensional array; the two
        columns of a ``predict_proba``, of which the second counts; or, for K > 2 classes, probabilities of shape
        (rows, K). Or a whole table that holds scores and labels: the path of a Parquet, CSV, TSV, JSON-lines or .xlsx
        file or of a log of lm-evaluation-harness or inspect_ai, a glob, a folder or a list of files; a pandas, polars
        or pyarrow data frame; a DuckDB relation, a polars lazy frame, a PySpark or Dask data frame or an Ibis table,
        which compute the Summary where the rows are. Or a :class:`calcert.Summary`.
    labels
        Labels 0/1 or bool, same length, any of the same types; left out for a table. For K classes, 0 to K - 1.
    score, label
        Names of the columns of a table. A name left out is found if exactly one pair of columns is plausible, and the
        logger ``calcert`` says which.
    reading
        How files write their values (:class:`calcert.Reading`).
    clusters
        What each row belongs to, where rows of one user, patient or session come together: rows of different clusters
        are independent, rows of one need not be. An array of any values, or a column of the table.
    independent
        True where answers of a language model to one question are independent. Logs that repeat questions make each of
        them a cluster otherwise.
    weights
        How much each row counts, in whole multiples of `weight_unit`; an array, or a column of the table.
    counts
        How many independent, equal rows each line stands for; an array. Not a weight.
    largest_weight
        A bound, known before the rows were seen, on the weight of a row, or of all rows of a cluster. To be given where
        weights depend on labels or scores: bounds then apply to the population that the weights stand for.
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
    groups
        A group for every row, or the column of a table that holds it. Several columns are a list of their names, or a
        data frame beside arrays: then all their values and all pairs of values are segments, certified together. A
        group is an attribute of its own row: it must depend neither on labels nor on the scores of other rows. Groups
        that may overlap are a mapping from their names to True or False for every row; that list is to be fixed before
        the rows are seen.
    smallest_group
        Groups with fewer rows do not count for the worst group; to be fixed before the rows are seen.
    class_columns
        Where the probabilities of K > 2 classes are in a table: the names of their columns; a pattern such as
        ``"p_*"``, whose star stands for the name of a class; or the one column that holds a list a row. `label` then
        names the column of classes: their names, or 0 to K - 1 in the order of the columns.
    class_names
        What the classes are called, in the order of the columns; labels may then be names.

    Examples
    --------
    >>> rows = calcert.Rows([0.1, 0.8, 0.8], [0, 1, 0], clusters=["ann", "ann", "bob"])
    >>> rows.summary()
    Summary of 3 rows in 2 clusters: base rate 0.3333, mean score 0.5667, 2 cells, 2 distinct scores
    """

    scores: Any
    labels: Any = None
    _: KW_ONLY
    score: str | None = None
    label: str | None = None
    reading: Reading = PLAIN
    clusters: Any = None
    independent: bool = False
    weights: Any = None
    counts: Any = None
    largest_weight: float | None = None
    largest_gain: float | None = None
    weight_unit: float | None = None
    soft_labels: bool = False
    pair_sums: bool = False
    groups: Any = None
    smallest_group: int = 1
    class_columns: str | Sequence[str] | None = None
    class_names: Sequence[str] | None = None
    source: Source = field(init=False, repr=False)
    sampling: Weighing = field(init=False, repr=False)
    account: Account = field(init=False, repr=False)  # What reading came to; known when rows were read.

    def __post_init__(self) -> None:
        if not isinstance(self.reading, Reading):
            raise TypeError(f"reading must be calcert.Reading(...); got {type(self.reading).__name__}.")
        source = source_of(self.scores, self.reading)
        if source.kind == "arrays":
            source = source._replace(value=second_column(source.value))
        object.__setattr__(self, "source", source)
        object.__setattr__(self, "account", source.value.account if source.kind == "files" else Account())
        self._follow_logs()
        object.__setattr__(self, "sampling", Weighing(**{name: getattr(self, name) for name in SAMPLING}))
        refuse_ignored(source, self.labels, self.score, self.label)
        if source.kind == "summary" and self.sampling.given:
            name = self.sampling.given[0]
            raise WrongType(Argument(name), "must come with rows", "a Summary", "", "Say it where they are summarised.")
        if self.has_classes:
            self._check_classes()
        elif self.groups is None:
            if self.smallest_group != 1:
                with_groups, got = ("must come with ", Argument("groups")), f"{self.smallest_group!r}, and none"
                raise WrongType(Argument("smallest_group"), with_groups, got)
        else:
            self._check_groups()

    def _follow_logs(self) -> None:
        """Where files are logs of a language model, what was left out is what they say."""
        if self.source.kind == "files" and self.class_columns is None:
            if not (self.independent or self.source.value.may_be_logs):
                return
            from calcert.sources.files.model_logs import said_by_logs

            told = said_by_logs(self.source.value, self.score, self.label, self.clusters, independent=self.independent)
            for name, value in told.items():
                object.__setattr__(self, name, value)
        elif self.independent:
            raise WrongType(Argument("independent"), "must come with logs of a language model", "other rows")

    @classmethod
    def of(cls, scores: Any, labels: Any = None, /, **said: Any) -> Rows:
        """Rows as functions take them: an instance alone, or scores and labels and what is said of them."""
        if not isinstance(scores, Rows):
            return cls(scores, labels, **said)
        beside = [name for name, value in {"labels": labels, **said}.items() if value is not None]
        if beside:
            raise TypeError(f"{beside[0]} must be said where the Rows are made: calcert.Rows(..., {beside[0]}=...).")
        return scores

    @property
    def has_classes(self) -> bool:
        """True where there are probabilities of more than two classes."""
        if self.class_columns is not None or self.class_names is not None:
            return True
        return self._has_probabilities and self.groups is None

    @property
    def _has_probabilities(self) -> bool:
        shape: tuple[int, ...] = getattr(self.source.value, "shape", ())
        return self.source.kind == "arrays" and len(shape) == 2 and shape[-1] > 2

    @property
    def has_segments(self) -> bool:
        """True where several attributes of rows are named: columns of a table, or a data frame beside arrays."""
        if self.source.kind == "arrays":
            return hasattr(self.groups, "columns")
        named = isinstance(self.groups, (list, tuple)) and bool(self.groups)
        return named and all(isinstance(name, str) for name in self.groups)

    def summary(self) -> Summary:
        """All rows, counted."""
        if self.groups is not None or self.class_columns is not None:
            many = "groups" if self.groups is not None else "classes"
            raise TypeError(f"{many} must be left out where all rows are counted together; got them. Certify them.")
        kind, value = self.source
        # Files and engines have imports of their own: only those who bring them pay.
        if kind == "files":
            from calcert.sources.file_summaries import file_summaries, saved_query

            saved = saved_query(value, self.sampling) if self._may_be_saved_query() else None
            return file_summaries(value, self.score, self.label, self.sampling)[None] if saved is None else saved
        scores, labels, sampling = value, self.labels, self.sampling
        if kind == "table":
            from calcert.sources.engines.query_plan import table_summaries
            from calcert.sources.engines.tables import chosen_columns, columns_in_memory, remark

            if not sampling.given:
                self.account.warnings += remark(value, self.score, self.label)
            chosen = chosen_columns(value, self.score, self.label, sampling)
            if not self.source.in_memory:
                return table_summaries(value, chosen, sampling)[None]
            scores, labels, sampling = columns_in_memory(value, chosen, sampling)
        if sampling.given:
            from calcert.sources.clusters.weighed_columns import weigh_arrays

            return weigh_arrays(scores, labels, sampling)
        if isinstance(value, Summary):
            return value
        order = RowOrder()
        summary = summarize_arrays(scores, labels, order)
        self.account.warnings += order.warnings
        return summary

    def _may_be_saved_query(self) -> bool:
        """True where nothing was said that the query of ``calcert sql`` has not counted already."""
        said = self.score is not None or self.label is not None or self.reading != PLAIN
        return not said and {*self.sampling.given} <= {"largest_weight", "largest_gain"}

    def by_group(self) -> Listed:
        """The rows of every group, counted, from one column or from a mapping of groups that may overlap."""
        from calcert.sources.groups.grouped import Listed, summarize_groups, summarize_listed

        told: dict[str, Any] = {"score": self.score, "label": self.label, "weighing": self.sampling}
        if isinstance(self.groups, Mapping):
            return summarize_listed(self.source.value, self.labels, self.groups, **told)
        summaries = summarize_groups(self.source.value, self.labels, self.groups, **told)
        return Listed(summaries, (), sum(group.rows for group in summaries.values()))

    def by_segment(self) -> Segments:
        """The rows of every value of several columns, and of every pair of values, counted."""
        from calcert.sources.groups.grouped import summarize_segments

        return summarize_segments(self.source, self.labels, self.groups, self.score, self.label, self.sampling)

    def by_class(self, measured: Mapping[str, Callable[[Floats, Integers], Floats]]) -> ClassRows:
        """The rows of every class against the rest, counted; and what is `measured` of probabilities and class."""
        from calcert.sources.classes.class_rows import ClassReader

        return ClassReader(self.class_columns, self.label, self.class_names, measured).of(self.source, self.labels)

    def _check_classes(self) -> None:
        if self.score is not None:
            wanted = "must not come with classes, each of which has scores of its own"
            raise WrongType(Argument("score"), wanted, repr(self.score))
        given = [*self.sampling.given, *["groups"] * (self.groups is not None)]
        if given or self.smallest_group != 1:
            name = given[0] if given else "smallest_group"
            raise _not_proved(name, "classes")
        if self.class_columns is None and not self._has_probabilities:
            raise TypeError(
                "class_names must come with an array of shape (rows, K), K > 2, or with class_columns; got "
                f"{type(self.source.value).__name__} without them."
            )

    def _check_groups(self) -> None:
        check_count("smallest_group", self.smallest_group, 1, LARGEST_GROUP)
        if self.source.kind == "summary":
            raise TypeError("groups must come with rows; got a Summary, which does not know whose rows it holds.")
        others = [name for name in self.sampling.given if name not in ("clusters", "pair_sums")]
        if self.has_segments and (others or self.smallest_group != 1):
            name = (*others, "smallest_group")[0]
            many = "must not come with several columns of groups: not proved together"
            raise WrongType(Argument(name), many, None, "", "Name one.")
        if self.largest_weight is not None:
            # Which groups there are would tell of the clusters that are in none of the others.
            raise _not_proved("largest_weight", "groups")
        if isinstance(self.groups, Mapping) and self.smallest_group != 1:
            raise ValueError(
                f"smallest_group must be left out for a list of groups that may overlap; got {self.smallest_group}. "
                "Which of them have few rows may tell of labels: leave such groups off the list, before the rows are "
                "seen."
            )
        columns = {"score": self.score, "label": self.label, **self.sampling.columns}
        for name, column in columns.items():
            if isinstance(self.groups, str) and isinstance(column, str) and self.groups == column:
                other = ("must be another column than ", Argument(name))
                raise WrongValue(Argument("groups"), other, f"{column!r} for both")


def _not_proved(name: str, many: str) -> WrongType:
    apart = "Certify each apart, at its Bonferroni level: "
    way = Way(
        f"{apart}calcert.certify(..., {name}=..., confidence=1 - delta / number).",
        (apart, "with ", Argument("confidence"), " 1 - delta / number."),
    )
    return WrongType(Argument(name), f"must not come with {many}: not proved together", None, "", way)
