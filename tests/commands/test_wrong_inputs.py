"""Wrong things typed in the shell and in Python: each is refused in the words of its reader alone."""

from __future__ import annotations

import shlex
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import calcert
from calcert import Reading, Rows, Settings

from .conftest import Run

TEXTS = {
    "ok": "p,y\n0.5,1\n0.25,0\n",
    "percent": "p,y\n50,1\n7,0\n",
    "sign": "p,y\n50%,1\n7%,0\n",
    "comma": "p;y\n0,5;1\n0,25;0\n",
    "logits": "p,y\n0.5,1\n-3.2,0\n",
    "log": "p,y\n-0.5,1\n-3.2,0\n",
    "infinite": "p,y\n0.5,1\ninf,0\n",
    "gap": "p,y\n0.5,1\n,0\n",
    "unlabelled": "p,y\n0.5,1\n0.3,\n",
    "words": "p,y\n0.5,yes\n0.3,no\n",
    "no": "p,y\n0.5,N\n0.3,J\n",
    "cats": "p,y\n0.5,cat\n0.3,dog\n",
    "signs": "p,y\n0.5,-1\n0.3,1\n",
    "two": "p,y\n0.5,1\n0.3,2\n",
    "three": "p,y\n0.5,1\n0.3,2\n0.2,3\n",
    "shares": "p,y\n0.5,0.5\n0.3,1\n",
    "swapped": "p,y\n1,0.5\n0,0.3\n",
    "noise": "p,y\n1.0000000000000002,1\n0.3,0\n",
    "absent": "p,y\n0.5,1\nk.A.,0\n",
    "title": "Report of May\n\np,y\n0.5,1\n0.25,0\n",
    "separator": "sep=,\np,y\n0.5,1\n",
    "weights": "p,y,w\n0.5,1,2.5\n0.3,0,1\n",
    "unweighted": "p,y,w\n0.5,1,\n0.3,0,1\n",
    "classes": "a,b,c,y\n0.2,0.3,0.5,a\n0.2,0.3,0.5,z\n",
    "sums": "a,b,c,y\n0.2,0.3,0.6,a\n",
    "header": "p,y\n",
}
"""Files of wrong rows, by name."""

FINE = ("ok", "classes", "sums", "weights", "unweighted")
"""Whose scores and labels are scores and labels, or none that are looked for."""

TYPED = [
    *(f"certify {name}.csv --score p --label y" for name in TEXTS if name not in FINE),
    *(f"perturb {name}.csv out.csv --score p" for name in ("sign", "gap", "logits", "percent", "title")),
    "certify unnamed.csv",
    "certify latin.csv",
    "certify wide.csv",
    "certify book.xlsx",
    "certify book.xlsx --sheet Three",
    "certify ok.csv --sheet X",
    "certify ok.parquet --skip-lines 1",
    "certify ok.parquet --encoding cp1252",
    "certify ok.csv --encoding blah",
    "certify ok.csv --positive X",
    "certify comma.csv --percent",
    "certify words.csv --positive YES",
    "certify weights.csv --weights w --score p --label y",
    "certify unweighted.csv --weights w --score p --label y",
    "certify ok.csv --largest-weight 3",
    "certify ok.csv --largest-gain 3",
    "certify ok.csv --pair-sums",
    "certify ok.csv --weight-unit 2",
    "certify ok.csv --smallest-group 3",
    "certify classes.csv --class-columns a,b,c --label y",
    "certify classes.csv --class-columns a,b,c --label y --positive a",
    "certify classes.csv --class-columns a,b,c --label y --clusters y",
    "certify sums.csv --class-columns a,b,c --label y",
    "certify ok.csv --confidence 95",
    "certify ok.csv --confidence 0.05",
    "certify ok.csv --odds 5",
    "certify ok.csv --bandwidth 1e9",
    "check ok.csv",
    "check ok.csv --max 0.3 --max-ratio 2",
    "check ok.csv --max-ratio 2 --groups y",
    "check ok.csv --max 0.3 --of worst",
    "compare ok.csv --scores q,p --label y",
    "monitor add a.state two.csv --batch-id 1 --score p --label y",
    "monitor add a.state header.csv --batch-id 1 --score p --label y",
    "monitor add a.state ok.csv --batch-id 1 --window year",
    "monitor add a.state ok.csv --batch-id 1 --id nope",
]


@pytest.fixture
def wrong(here: Path) -> Path:
    for name, text in TEXTS.items():
        (here / f"{name}.csv").write_text(text)
    (here / "unnamed.csv").write_text("a,b,c\n0.5,1,0\n0.25,0,1\n")
    (here / "latin.csv").write_bytes("PD_Ü;y\n0,5;1\n".encode("latin-1"))
    (here / "wide.csv").write_bytes("p,y\n0.5,1\n".encode("utf-16"))
    pq.write_table(pa.table({"p": [0.5, 0.3], "y": [1, 0]}), here / "ok.parquet")
    book = openpyxl.Workbook()
    book.create_sheet("Two")
    book.save(here / "book.xlsx")
    return here


@pytest.mark.parametrize("line", TYPED)
def test_the_shell_is_told_of_options_and_of_nothing_in_python(run: Run, wrong: Path, line: str) -> None:
    done = run(*shlex.split(line))
    assert done.exit_code == 2
    assert "Traceback" not in done.stderr
    for word in ("Reading(", "=True", "scipy", "numpy", "labels ==", "weight_unit", "soft_labels", "class_names="):
        assert word not in done.stderr


CALLED = [
    *((f"{name}.csv", {"score": "p", "label": "y"}) for name in TEXTS if name not in FINE),
    ("unnamed.csv", {}),
    ("latin.csv", {}),
    ("wide.csv", {}),
    ("book.xlsx", {}),
    ("book.xlsx", {"reading": Reading(sheet="Three")}),
    ("ok.csv", {"reading": Reading(sheet="X")}),
    ("ok.parquet", {"reading": Reading(skip_lines=1)}),
    ("ok.parquet", {"reading": Reading(encoding="cp1252")}),
    ("ok.csv", {"reading": Reading(positive="X")}),
    ("comma.csv", {"reading": Reading(percent=True)}),
    ("words.csv", {"reading": Reading(positive="YES")}),
    ("weights.csv", {"score": "p", "label": "y", "weights": "w"}),
    ("ok.csv", {"pair_sums": True}),
    ("ok.csv", {"smallest_group": 3}),
    ("classes.csv", {"class_columns": ["a", "b", "c"], "label": "y"}),
    ("sums.csv", {"class_columns": ["a", "b", "c"], "label": "y"}),
]


@pytest.mark.parametrize(("name", "said"), CALLED, ids=[f"{name}-{said}" for name, said in CALLED])
def test_python_is_told_of_arguments_and_of_no_option(wrong: Path, name: str, said: dict[str, object]) -> None:
    with pytest.raises((ValueError, TypeError)) as told:
        calcert.certify(Rows(name, **said))  # type: ignore[arg-type]
    assert "--" not in str(told.value)


def test_settings_are_told_of_arguments_too() -> None:
    for wrong_settings in ({"confidence": 95}, {"odds": 5}, {"bandwidth": 1e9}, {"seed": -1}, {"statements": "l3"}):
        with pytest.raises(ValueError, match="must") as told:
            calcert.certify([0.5], [1], settings=Settings(**wrong_settings))
        assert "--" not in str(told.value)
