"""The query text gives the Summary of the rows on the real engines, and counts what it cannot place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import calcert
from calcert.perturbation.noise import Noise
from calcert.perturbation.score_map import ScoreMap
from calcert.sources.engines.sql_query import DIALECTS
from calcert.summary import cells
from tests.perturbation.test_noise import SCORES, follows
from tests.sources.conftest import copy_to_postgres

Run = Callable[[pa.Table, str], list[Any]]
"""Puts rows into a table named predictions, runs a query and returns what it gave."""


def on_duckdb(request: pytest.FixtureRequest) -> Iterator[Run]:
    duckdb = pytest.importorskip("duckdb")

    def run(rows: pa.Table, query: str) -> list[Any]:
        with duckdb.connect() as database:
            database.register("predictions", rows)
            return list(database.execute(query).fetchall())

    yield run


def on_postgres(request: pytest.FixtureRequest) -> Iterator[Run]:
    server = dict(request.getfixturevalue("postgres"))
    import psycopg

    server["dbname"] = server.pop("database")
    with psycopg.connect(**server) as connection:

        def run(rows: pa.Table, query: str) -> list[Any]:
            connection.execute("DROP TABLE IF EXISTS predictions")
            copy_to_postgres(connection, "predictions", rows)
            return connection.execute(query).fetchall()

        yield run


def on_spark(request: pytest.FixtureRequest) -> Iterator[Run]:
    spark = request.getfixturevalue("spark")
    folder = request.getfixturevalue("tmp_path_factory").mktemp("spark")

    def run(rows: pa.Table, query: str) -> list[Any]:
        import pyarrow.parquet

        pyarrow.parquet.write_table(rows, folder / "predictions.parquet")
        spark.catalog.clearCache()
        spark.read.parquet(str(folder / "predictions.parquet")).createOrReplaceTempView("predictions")
        return list(spark.sql(query).collect())

    yield run


@pytest.fixture(scope="module", params=["duckdb", "postgres", "spark"])
def engine(request: pytest.FixtureRequest) -> Iterator[tuple[str, Run]]:
    start = {"duckdb": on_duckdb, "postgres": on_postgres, "spark": on_spark}[request.param]
    for run in start(request):
        yield request.param, run


def rows_of(kind: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    edges = [value for piece in cells.PIECES for value in (piece.start, np.nextafter(piece.start, 1))]
    scores = np.concatenate([rng.random(8000), rng.random(2000) ** 20, 1 - rng.random(2000) ** 20, edges, [1.0, -0.0]])
    return np.round(scores, 3) if kind == "few" else scores, rng.random(scores.size) < 0.4


@pytest.mark.parametrize("kind", ["many", "few"])
@pytest.mark.parametrize("label_type", [pa.bool_(), pa.int64(), pa.float64()])
def test_the_query_gives_the_summary_of_the_rows(engine: tuple[str, Run], kind: str, label_type: Any) -> None:
    dialect, run = engine
    scores, labels = rows_of(kind)
    rows = pa.table({"p": scores, "y": pa.array(labels).cast(pa.int8()).cast(label_type)})
    result = run(rows, calcert.sql.summary_query("predictions", "p", "y", dialect))
    expected = calcert.summarize(scores, labels)
    assert calcert.Summary.from_cells(result) == expected
    assert expected.is_finite == (kind == "few")


def test_expressions_and_subqueries_take_the_place_of_names(engine: tuple[str, Run]) -> None:
    dialect, run = engine
    rows = pa.table({"logit": [-1.0, 0.0, 3.0], "won": ["yes", "no", "later"]})
    query = calcert.sql.summary_query(
        "(SELECT * FROM predictions WHERE won <> 'later') AS settled",
        score="CASE WHEN logit < 0 THEN 0.25 ELSE 0.5 END",
        label="CASE WHEN won = 'yes' THEN 1 ELSE 0 END",
        dialect=dialect,
    )
    assert calcert.Summary.from_cells(run(rows, query)) == calcert.summarize([0.25, 0.5], [1, 0])


@pytest.mark.parametrize(
    ("scores", "labels", "words"),
    [
        ([0.5, None, 1.5, float("nan")], [0, 1, 0, 1], "scores .* 2 NaN or outside and 1 missing among 4 rows"),
        ([0.5, 0.5, 0.5], [0, None, 2], "labels .* 1 neither and 1 missing among 3 rows"),
    ],
)
def test_invalid_rows_are_counted_and_refused(
    engine: tuple[str, Run], scores: list[Any], labels: list[Any], words: str
) -> None:
    dialect, run = engine
    result = run(pa.table({"p": scores, "y": labels}), calcert.sql.summary_query("predictions", "p", "y", dialect))
    with pytest.raises(ValueError, match=words):
        calcert.Summary.from_cells(result)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_other_dialects_are_valid_and_mean_the_same(dialect: str) -> None:
    sqlglot = pytest.importorskip("sqlglot")
    scores, labels = rows_of("few")
    rows = pa.table({"p": scores, "y": labels})
    query = calcert.sql.summary_query("predictions", "p", "y", dialect)
    [translated] = sqlglot.transpile(query, read=dialect, write="duckdb", error_level=sqlglot.ErrorLevel.RAISE)
    [run] = on_duckdb(None)  # type: ignore[arg-type]
    assert calcert.Summary.from_cells(run(rows, translated)) == calcert.summarize(scores, labels)


def test_an_empty_table_is_refused() -> None:
    [run] = on_duckdb(None)  # type: ignore[arg-type]
    rows = pa.table({"p": pa.array([], pa.float64()), "y": pa.array([], pa.int64())})
    with pytest.raises(ValueError, match="at least one row"):
        calcert.Summary.from_cells(run(rows, calcert.sql.summary_query("predictions", "p", "y", "duckdb")))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("t", "p", "y", "oracle"), "dialect must be one of duckdb, postgres, .*; got 'oracle'"),
        (("t; DROP TABLE t", "p", "y", "duckdb"), "table must be one name or expression"),
        (("t", "p -- x", "y", "duckdb"), "score must be one name or expression"),
        (("t", "p", "", "duckdb"), "label must be SQL text"),
        (("t", "p", 1, "duckdb"), "label must be SQL text"),
    ],
)
def test_arguments_are_checked(arguments: tuple[Any, ...], words: str) -> None:
    with pytest.raises((ValueError, TypeError), match=words):
        calcert.sql.summary_query(*arguments)


ROWS = 5000


def served(engine: tuple[str, Run], scores: Any, odds: float = 1 / 16) -> list[Any]:
    dialect, run = engine
    expression = calcert.sql.perturb_sql("p", dialect=dialect, odds=odds)
    return [row[0] for row in run(pa.table({"p": scores}), f"SELECT {expression} AS s FROM predictions")]


def test_perturbed_scores_follow_the_law_they_name_at_every_score(engine: tuple[str, Run]) -> None:
    # Engines may return rows in any order, but what is served for these scores does not overlap.
    drawn = np.sort(served(engine, np.repeat(SCORES, ROWS))).reshape(len(SCORES), ROWS)
    for x, part in zip(SCORES, drawn, strict=True):
        assert follows(Noise("odds", 1 / 16), x, part, ulp=2.0**-49), x


@pytest.mark.parametrize("odds", [1 / 16, 1 / 2])
def test_no_score_inside_is_served_as_0_or_1(engine: tuple[str, Run], odds: float) -> None:
    near_ends = [5e-324, 1e-310, 1e-300, 1 - 2.0**-52, 1 - 2.0**-53]
    drawn = np.array(served(engine, np.repeat(near_ends, ROWS), odds))
    assert 0 < drawn.min() < 1e-299
    assert 1 - 2.0**-40 < drawn.max() < 1


def test_perturbed_scores_of_another_size_are_told_apart(engine: tuple[str, Run]) -> None:
    drawn = np.array(served(engine, np.full(4 * ROWS, 0.3), odds=1.15 / 16))
    assert not follows(Noise("odds", 1 / 16), 0.3, drawn)


def test_what_is_no_score_is_served_as_null_and_single_precision_is_widened(engine: tuple[str, Run]) -> None:
    found = served(engine, pa.array([None, -0.1, 1.5, float("nan"), 1.0, 0.0], pa.float32()))
    assert found.count(None) == 4
    assert {value for value in found if value is not None} == {0.0, 1.0}
    small = served(engine, pa.array([1e-30] * 100, pa.float32()))
    assert all(0.2e-30 < value < 5e-30 for value in small)
    assert len(set(small)) == 100


UNITS: dict[str, dict[str, Any]] = {
    "cluster": {"clusters": "unit"},
    "weight": {"weights": "w"},
    "both": {"clusters": "unit", "weights": "w", "weight_unit": 0.5},
}


@pytest.mark.parametrize("kind", ["many", "few"])
@pytest.mark.parametrize("given", UNITS)
def test_the_query_gives_the_summary_of_clusters_and_weights(engine: tuple[str, Run], kind: str, given: str) -> None:
    dialect, run = engine
    scores, labels = rows_of(kind)
    rng = np.random.default_rng(8)
    unit, weight = rng.integers(0, 2000, scores.size), rng.integers(0, 200_000, scores.size)
    rows = pa.table({"p": scores, "y": labels.astype(np.int64), "unit": unit, "w": weight})
    options = UNITS[given]
    wanted: dict[str, Any] = {"clusters": unit} if "clusters" in options else {}
    wanted |= {"weights": weight} if "weights" in options else {}
    wanted |= {"weight_unit": options["weight_unit"]} if "weight_unit" in options else {}
    result = run(rows, calcert.sql.summary_query("predictions", "p", "y", dialect, **options))
    assert calcert.Summary.from_cells(result) == calcert.summarize(scores, labels, **wanted)
    if given == "both":
        declared = calcert.summarize(scores, labels, **wanted, largest_weight=1e9)
        assert calcert.Summary.from_cells(result, largest_weight=1e9) == declared
        with pytest.raises(ValueError, match="largest_weight must bound"):
            calcert.Summary.from_cells(result, largest_weight=10)
        with pytest.raises(ValueError, match="one line of sums over clusters; got 0"):
            calcert.Summary.from_cells([line for line in result if line[0] != -100])


@pytest.mark.parametrize(
    ("column", "values", "words"),
    [
        ("unit", [1, None, 2], "clusters must not be missing; got 1 of 3 rows"),
        ("w", [1.0, None, 2.0], "weights must not be missing; got 1 of 3 rows"),
        ("w", [1.0, 0.3, -2.0], "weights must be whole multiples .* got 2 of 3 rows"),
    ],
)
def test_rows_without_a_cluster_or_a_whole_weight_are_counted_and_refused(
    engine: tuple[str, Run], column: str, values: list[Any], words: str
) -> None:
    dialect, run = engine
    rows = pa.table({"p": [0.5, 0.25, 0.75], "y": [0, 1, 1], "unit": [1, 1, 2], "w": [1.0, 2.0, 3.0]})
    rows = rows.set_column(rows.schema.get_field_index(column), column, pa.array(values))
    query = calcert.sql.summary_query("predictions", "p", "y", dialect, clusters="unit", weights="w")
    with pytest.raises(ValueError, match=words):
        calcert.Summary.from_cells(run(rows, query))


@pytest.mark.parametrize(
    "found",
    [
        ScoreMap(edges=(0.1, 0.25, 0.5), values=(0.013, 0.2, 0.35, 0.98765)),
        ScoreMap(coefficients=(-0.25, 1.5, 0.75)),
        ScoreMap(coefficients=(30.0, 0.0, 60.0)),
    ],
    ids=["levels", "logistic", "steep"],
)
def test_a_map_is_the_same_on_every_engine(engine: tuple[str, Run], found: ScoreMap) -> None:
    dialect, run = engine
    scores = np.array([0.0, 5e-324, 1e-12, 0.05, 0.1, 0.2499999, 0.25, 0.5, 0.7, 1 - 1e-12, np.nextafter(1, 0), 1.0])
    for written in (found.sql("p"), found.sql("p", dialect=dialect)):
        rows = run(pa.table({"p": scores}), f"SELECT {written} AS s, p FROM predictions")
        by_score = sorted((float(row[1]), float(row[0])) for row in rows)
        np.testing.assert_allclose([value for _, value in by_score], found(scores), rtol=1e-9)
    strange = run(pa.table({"p": [-0.1, 1.5, float("nan")]}), f"SELECT {found.sql('p')} AS s FROM predictions")
    assert [row[0] for row in strange] == [None] * 3
    with pytest.raises(ValueError, match="score must be a name"):
        found.sql("p; DROP TABLE predictions")
