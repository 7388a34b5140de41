"""The engines that the same rows go through: real ones, each a function from an Arrow table to its native frame."""

from __future__ import annotations

import io
import itertools
import shutil
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from tests.sources import throwaway_postgres

Build = Callable[[pa.Table], Any]

IN_PROCESS = [
    "pandas",
    "pandas with arrow types",
    "pandas with nullable types",
    "polars",
    "polars lazy",
    "pyarrow",
    "duckdb",
    "dask",
    "ibis on duckdb",
    "ibis on polars",
]
SERVERS = ["spark", "ibis on postgres"]


@pytest.fixture(scope="session", params=IN_PROCESS)
def build(request: pytest.FixtureRequest) -> Build:
    """An engine inside this process."""
    return builder(request.param, request)


@pytest.fixture(scope="session", params=IN_PROCESS + SERVERS)
def build_anywhere(request: pytest.FixtureRequest) -> Build:
    """Any engine."""
    return builder(request.param, request)


def builder(name: str, request: pytest.FixtureRequest) -> Build:
    library = name.split()[0]
    if library == "spark":
        return _spark_frames(request)
    found = pytest.importorskip({"dask": "dask.dataframe"}.get(library, library))
    if library == "pandas":
        return {
            "pandas": lambda table: table.to_pandas(),
            "pandas with arrow types": lambda table: table.to_pandas(types_mapper=found.ArrowDtype),
            "pandas with nullable types": lambda table: table.to_pandas().convert_dtypes(),
        }[name]
    if library == "polars":
        return lambda table: found.from_arrow(table).lazy() if "lazy" in name else found.from_arrow(table)
    if library == "pyarrow":
        return lambda table: table
    if library == "duckdb":
        return lambda table: found.connect().from_arrow(table)
    if library == "dask":
        import dask
        import pandas

        setting = dask.config.set(scheduler="synchronous")
        request.addfinalizer(lambda: setting.__exit__(None, None, None))
        return lambda table: found.from_pandas(table.to_pandas(types_mapper=pandas.ArrowDtype), npartitions=2)
    if "polars" in name:
        polars = pytest.importorskip("polars")
        return lambda table: found.polars.connect({"rows": polars.from_arrow(table)}).table("rows")
    return _postgres_tables(request) if "postgres" in name else _ibis_on_duckdb


def _ibis_on_duckdb(table: pa.Table) -> Any:
    import ibis

    database = ibis.duckdb.connect()
    database.con.register("arrow_rows", table)
    database.con.execute("CREATE TABLE rows_ AS SELECT * FROM arrow_rows")
    return database.table("rows_")


def _spark_frames(request: pytest.FixtureRequest) -> Build:
    spark = request.getfixturevalue("spark")
    folder = request.getfixturevalue("tmp_path_factory").mktemp("spark")
    numbers = itertools.count()

    def frame(table: pa.Table) -> Any:
        path = folder / f"{next(numbers)}.parquet"
        pyarrow.parquet.write_table(table, path)
        return spark.read.parquet(str(path)).repartition(2)

    return frame


NUMBERS = itertools.count()
"""Of tables: one server serves all modules of tests that a process runs."""


def _postgres_tables(request: pytest.FixtureRequest) -> Build:
    import ibis

    server = request.getfixturevalue("postgres")
    database = ibis.postgres.connect(**server)
    request.addfinalizer(database.disconnect)

    def create(table: pa.Table) -> Any:
        name = f"rows_{next(NUMBERS)}"
        copy_to_postgres(database.con, name, table)
        return database.table(name)

    return create


def copy_to_postgres(connection: Any, name: str, table: pa.Table) -> None:
    """Create a table in PostgreSQL and fill it."""
    kinds = {"double": "float8", "float": "float4", "bool": "boolean", "string": "text"}
    columns = (
        f"{field.name} {kinds.get(str(field.type), 'numeric' if pa.types.is_decimal(field.type) else 'bigint')}"
        for field in table.schema
    )
    text = io.BytesIO()
    # PostgreSQL has smaller integers than bigint too, but no 8-bit ones; the cast is what differs, and it is the same.
    pyarrow.csv.write_csv(table, text, pyarrow.csv.WriteOptions(include_header=False, quoting_style="none"))
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
        with cursor.copy(f"COPY {name} FROM STDIN (FORMAT csv)") as copy:
            copy.write(text.getvalue())
    connection.commit()


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Spark in local mode with two workers."""
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    sql = pytest.importorskip("pyspark.sql")
    patch = pytest.MonkeyPatch()
    patch.setenv("PYSPARK_PYTHON", sys.executable)
    session = (
        sql.SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.driver.memory", "1g")
        # Compiled once and in a hurry: no query here runs long enough to earn back a better compiler's minutes.
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
        .getOrCreate()
    )
    yield session
    session.stop()
    patch.undo()


@pytest.fixture(scope="session")
def postgres() -> Iterator[dict[str, Any]]:
    """How to connect to a PostgreSQL server of our own."""
    pytest.importorskip("psycopg")
    folder = throwaway_postgres.programs()
    if folder is None:
        pytest.skip("PostgreSQL is not installed")
    with throwaway_postgres.server(folder) as connection:
        yield connection
