"""Fresh noise is fresh in every process: workers that were forked from one server share none of it."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import calcert
from calcert.perturbation.keyed_noise import uniform_of_keys, uniform_of_rows

PREPARE = {
    "calcert.perturb": "serve = lambda: calcert.perturb(np.full(4, 0.5)).tolist()",
    "PerturbedClassifier": """
from sklearn.linear_model import LogisticRegression
from calcert.sklearn import PerturbedClassifier
X = np.arange(40.0)[:, None]
model = PerturbedClassifier(LogisticRegression().fit(X, X[:, 0] > 20))
serve = lambda: model.predict_proba(X[18:22])[:, 1].tolist()
""",
    "Perturb": """
import torch
from calcert.torch import Perturb
torch.set_num_threads(1)
torch.manual_seed(0)
layer = Perturb()
serve = lambda: layer(torch.full((4,), 0.5, dtype=torch.float64)).tolist()
""",
    "Perturb, compiled whole": """
import torch
from calcert.torch import Perturb
torch.set_num_threads(1)
torch.manual_seed(0)
layer = torch.compile(Perturb(), backend="aot_eager", fullgraph=True)
serve = lambda: layer(torch.full((4,), 0.5, dtype=torch.float64)).tolist()
""",
}

FORKED = """
import json, os, sys
import numpy as np, calcert
{prepare}
answers = [serve()]  # Whatever state a first request leaves behind is inherited.
for worker in range(3):
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.write(writing, json.dumps([serve(), serve()]).encode())
        os._exit(0)
    os.wait()
    answers += json.loads(os.read(reading, 1 << 16))
answers.append(serve())
print(json.dumps(answers))
"""


def answers(code: str) -> list[list[float]]:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found: list[list[float]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("what", PREPARE)
def test_forked_workers_share_no_noise(what: str) -> None:
    found = answers(FORKED.format(prepare=PREPARE[what]))
    assert len(found) == 8
    served = np.array(found).ravel()
    assert np.unique(served).size == served.size


LOADER = """
import json
import torch
from torch.utils.data import DataLoader
from calcert.torch import Perturb

class Served(torch.utils.data.Dataset):
    layer = Perturb()
    def __len__(self):
        return 6
    def __getitem__(self, row):
        torch.manual_seed(0)  # As programs do that want their augmentations repeatable.
        return self.layer(torch.full((4,), 0.5, dtype=torch.float64))

torch.set_num_threads(1)
loader = DataLoader(Served(), batch_size=None, num_workers=2, multiprocessing_context="fork")
print(json.dumps([row.tolist() for _ in range(2) for row in loader]))
"""


def test_workers_of_a_loader_share_no_noise() -> None:
    served = np.array(answers(LOADER)).ravel()
    assert served.size == 48
    assert np.unique(served).size == served.size


POOL = """
import json, multiprocessing
import numpy as np, calcert
def serve(_):
    return calcert.perturb(np.full(4, 0.5)).tolist()
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(3) as pool:
        print(json.dumps(pool.map(serve, range(9), chunksize=1)))
"""


def test_processes_of_a_pool_share_no_noise() -> None:
    served = np.array(answers(POOL)).ravel()
    assert np.unique(served).size == served.size == 36


SECRET = bytes(range(32))


def test_a_secret_of_bytes_does_what_a_number_does() -> None:
    rows = np.array([[0.5, 1.0], [2.0, 3.0], [0.5, 1.0]])
    first = uniform_of_rows(SECRET, rows)
    assert (uniform_of_rows(SECRET, rows) == first).all()
    assert first[0] == first[2] != first[1]
    assert (uniform_of_rows(SECRET[::-1], rows) != first).all()
    assert (uniform_of_keys(SECRET, ["a", b"a", 1], 3) != uniform_of_keys(SECRET[::-1], ["a", b"a", 1], 3)).all()
    served = calcert.perturb([0.2, 0.8], rng=SECRET)
    assert (calcert.perturb([0.2, 0.8], rng=SECRET) == served).all()
    assert (calcert.perturb([0.2, 0.8], rng=SECRET[::-1]) != served).all()


def test_noise_by_number_is_what_it_was() -> None:
    # A service that is upgraded goes on to answer as before.
    assert uniform_of_rows(7, [[0.5, 1.0], [2.0, 3.0]]).round(3).tolist() == [0.288, 0.939]
    assert calcert.perturb([0.0, 0.5, 1.0], bandwidth=1 / 64, rng=0).round(4).tolist() == [0.0192, 0.4876, 0.9463]


@pytest.mark.parametrize("short", [b"", b"secret", bytes(15)])
def test_a_short_secret_is_refused(short: bytes) -> None:
    with pytest.raises(ValueError, match=r"rng must have at least 16 bytes.*secrets\.token_bytes\(32\); got \d+"):
        calcert.perturb([0.5], rng=short)


def test_a_client_who_asks_again_learns_the_score_from_fresh_noise() -> None:
    """What the pages say: noise is no curtain. The error of a mean of m answers is about 1.6 h / sqrt(m)."""
    h, m = 1 / 64, 10_000
    asked = calcert.perturb(np.full(m, 0.3), bandwidth=h, rng=0)
    assert abs(asked.mean() - 0.3) < 4 * 1.6 * h / np.sqrt(m)
