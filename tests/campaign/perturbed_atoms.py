"""Scores at and next to 0 and 1 through every way of serving: 0 and 1 are served for scores 0 and 1 alone (O5).

Random noise, scores down to the last double before an end, and random numbers at and next to their own ends.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import click.testing
import duckdb
import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

import calcert
from calcert.cli import main
from calcert.perturbation import noise as perturbation_noise
from calcert.perturbation.noise import Noise
from calcert.sklearn import PerturbedClassifier
from calcert.torch import Perturb, PerturbLogits
from tests.campaign import Counts
from tests.sources import throwaway_postgres

ROWS = 2_000
SERVER_FROM = 30.0
"""Seconds of budget from which on a PostgreSQL server is started."""

Scores = NDArray[np.float64]


class Given(ClassifierMixin, BaseEstimator):
    """A classifier whose features are the probabilities of all classes but the first."""

    def __init__(self, classes: int) -> None:
        self.classes = classes
        self.classes_ = np.arange(classes)

    def fit(self, X: Any, y: Any) -> Given:
        return self

    def predict_proba(self, X: Any) -> Any:
        return np.column_stack([1 - np.sum(X, axis=1), X])


class Field:
    """A folder, where scores and noise come from, and what counts."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.rng, self.counts = folder, np.random.default_rng(seed), Counts()
        self.postgres: psycopg.Connection[Any] | None = None

    def scores(self, bits: int = 53, smallest: int = 1074) -> Scores:
        """Scores at both ends, next to them and between, as numbers of so many bits have them."""
        steps = np.floor(2.0 ** self.rng.uniform(0, 12, ROWS // 4))
        near_one = 1 - steps * 2.0**-bits
        near_zero = 2.0 ** -np.floor(self.rng.uniform(1, smallest + 1, ROWS // 4))
        tiniest = steps * 2.0**-smallest
        ends = self.rng.integers(0, 2, ROWS // 4).astype(float)
        return self.rng.permutation(np.concatenate([near_one, near_zero, tiniest, ends]))

    def noise(self, kind: str | None = None) -> Noise:
        if kind == "odds" or (kind is None and self.rng.random() < 0.7):
            return Noise("odds", 2.0 ** self.rng.uniform(-8, -1))
        return Noise("additive", 10.0 ** self.rng.uniform(-9, 1))

    def chances(self) -> Scores:
        """Random numbers as generators give them, many of them at the ends."""
        steps = self.rng.integers(0, 4, ROWS) * 2.0**-53
        return np.where(
            self.rng.random(ROWS) < 0.5, self.rng.random(ROWS), np.abs(self.rng.integers(0, 2, ROWS) - steps)
        )

    def judge(self, way: str, noise: Noise, scores: Any, served: Any) -> None:
        """0 and 1 come from 0 and 1, under noise on the odds stay what they are, and everything is a score."""
        x, s = np.asarray(scores, np.float64), np.asarray(served, np.float64)
        wrong = ~((s > 0) & (s < 1)) & (x != s)
        if noise.kind == "odds":
            wrong |= ((x == 0) | (x == 1)) & (x != s)
        else:
            wrong &= ~(((x == 0) | (x == 1)) & (s >= 0) & (s <= 1))
        if x.shape != s.shape or wrong.any():
            row = int(np.argmax(wrong))
            self.counts.fail(way, f"{noise}: {x.ravel()[row]!r} is served as {s.ravel()[row]!r}")
        else:
            self.counts.add(way, "apart")


def arrays(field: Field) -> None:
    x, noise = field.scores(), field.noise()
    rng = [None, int(field.rng.integers(1 << 40)), field.rng.bytes(16), field.rng][field.rng.integers(4)]
    field.judge("perturb", noise, x, calcert.perturb(x, rng=rng, **noise.parameters))
    field.judge("any random number", noise, x, noise.sample(x, field.chances()))


def logits(field: Field) -> None:
    z, b = field.rng.uniform(-800, 800, ROWS), field.noise("odds").size
    wide, single = torch.tensor(z), torch.tensor(z, dtype=torch.float32)
    moved = calcert.perturb_logits(z, odds=b), PerturbLogits(odds=b)(wide), PerturbLogits(odds=b)(single)
    if all(np.isfinite(np.asarray(each)).all() for each in moved):
        field.counts.add("logits", "finite")
    else:
        field.counts.fail("logits", f"odds {b!r}: a finite logit became infinite")


def tensors(field: Field) -> None:
    noise = field.noise()
    dtype, bits, smallest = [
        (torch.float64, 53, 1074),
        (torch.float32, 24, 149),
        (torch.float16, 11, 24),
        (torch.bfloat16, 8, 133),
    ][field.rng.integers(4)]
    x = torch.tensor(field.scores(bits, smallest)).clamp(0, 1).to(dtype)
    generator = torch.Generator().manual_seed(int(field.rng.integers(1 << 40))) if field.rng.random() < 0.5 else None
    served = Perturb(generator=generator, **noise.parameters)(x)
    field.judge(f"PyTorch, {dtype}", noise, x.double().numpy(), served.double().numpy())


def estimators(field: Field) -> None:
    noise, classes = field.noise(), int(field.rng.integers(2, 5))
    x = field.scores()
    x = x if classes == 2 else np.maximum(x, 0.6)
    features = np.column_stack([x, np.zeros((ROWS, classes - 2))])
    state: Any = [None, int(field.rng.integers(1 << 40)), field.rng.bytes(16), field.rng][field.rng.integers(4)]
    model = PerturbedClassifier(Given(classes), random_state=state, **noise.parameters)
    keys = {"keys": range(ROWS)} if isinstance(state, (int, bytes)) else {}
    served = model.predict_proba(features, **keys)
    field.judge("scikit-learn", noise, x, served[:, 1])
    if classes == 2:
        inside = (served[:, 1] > 0) & (served[:, 1] < 1)
        field.judge("scikit-learn, first class", noise, np.where(inside, 0.5, 1 - served[:, 1]), served[:, 0])


def queries(field: Field) -> None:
    """The text with the engine's random numbers, and with others in their place."""
    noise, x = field.noise("odds"), field.scores()
    text = calcert.sql.perturb_sql("p", dialect="duckdb", odds=noise.size)
    rows = pa.table({"p": x, "u": field.chances()})
    for way, expression in (("DuckDB", text), ("DuckDB, any random number", text.replace("random()", "u"))):
        with duckdb.connect() as database:
            database.register("scored", rows)
            served = database.execute(f"SELECT p, {expression} AS s FROM scored").fetchnumpy()
        field.judge(way, noise, served["p"], served["s"])
    if field.postgres is not None:
        text = calcert.sql.perturb_sql("p", dialect="postgres", odds=noise.size)
        assert perturbation_noise.UNIFORM["postgres"] in text
        found = field.postgres.execute(
            f"SELECT p, {text} FROM (SELECT unnest(%s::float8[]) AS p) AS scored", [x.tolist()]
        ).fetchall()
        field.judge("PostgreSQL", noise, *np.array(found).T)


def files(field: Field) -> None:
    noise, x = field.noise(), field.scores()
    form = ("csv", "parquet", "jsonl")[field.rng.integers(3)]
    source, target = field.folder / f"in.{form}", field.folder / f"out.{form}"
    table = pa.table({"p": x})
    if form == "csv":
        pa.csv.write_csv(table, source)
    elif form == "parquet":
        pa.parquet.write_table(table, source)
    else:
        source.write_text("".join(f"{json.dumps({'p': score})}\n" for score in x.tolist()))
    words = ["perturb", str(source), str(target), "--score", "p", "--overwrite"]
    words += [f"--{noise.keyword}", repr(noise.size), "--seed", str(field.rng.integers(1 << 40))]
    done = click.testing.CliRunner().invoke(main, words)
    if done.exit_code:
        field.counts.fail(f"calcert perturb, {form}", f"ended with {done.exit_code}: {done.output[-300:]}")
        return
    if form == "parquet":
        served = pa.parquet.read_table(target)["perturbed"].to_numpy()
    elif form == "csv":
        served = np.array([float(line.rpartition(",")[2]) for line in target.read_text().splitlines()[1:]])
    else:
        served = np.array([json.loads(line)["perturbed"] for line in target.read_text().splitlines()])
    field.judge(f"calcert perturb, {form}", noise, x, served)


KINDS: tuple[Callable[[Field], None], ...] = (arrays, logits, tensors, estimators, queries, files)


@contextmanager
def postgres() -> Iterator[psycopg.Connection[Any] | None]:
    """A connection to a server of our own; none where PostgreSQL is not installed."""
    programs = throwaway_postgres.programs()
    if programs is None:
        yield None
        return
    with throwaway_postgres.server(programs) as where:
        where["dbname"] = where.pop("database")
        with psycopg.connect(**where) as connection:
            yield connection


def run(budget: float, seed: int) -> Counts:
    """Serve scores at and next to the ends for about `budget` seconds; see :mod:`tests.campaign`."""
    end = time.monotonic() + budget
    with ExitStack() as stack:
        field = Field(Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="campaign-"))), seed)
        if budget >= SERVER_FROM:
            field.postgres = stack.enter_context(postgres())
        number = 0
        while number < 3 * len(KINDS) or time.monotonic() < end:
            KINDS[number % len(KINDS)](field)
            number += 1
        return field.counts
