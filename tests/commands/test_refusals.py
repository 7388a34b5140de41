"""What goes wrong is said from one set of fields: in arguments to Python, in options to a command line."""

from __future__ import annotations

import pickle
import traceback
from pathlib import Path

import numpy as np
import openpyxl
import pytest

import calcert
from calcert.foundation.refusal import Argument, NoRows, Refused, Way, WrongType, WrongValue, reading
from calcert.foundation.refused_values import bad_score

from .conftest import Run

ROWS = {
    "50,1\n7,0\n": ("pass scores / 100", "pass Reading(percent=True).", "pass --percent."),
    "0.5,yes\n0.3,no\n": ("", "pass Reading(positive='yes').", "pass --positive yes."),
    "0.5,-1\n0.3,1\n": ("pass labels > 0", "pass Reading(positive='1').", "pass --positive 1."),
    "0.5,0.5\n0.3,1\n": ("pass soft_labels=True", "pass soft_labels=True.", "pass --soft-labels."),
    "0.5,1\n-3.2,0\n": ("pass scipy.special.expit(scores)", "write 1/(1 + exp(-score))", "write 1/(1 + exp(-score))"),
    "0.5,1\n1.0000000000000002,0\n": ("numpy.clip(scores, 0, 1)", "clip the scores to [0, 1]", "clip the scores to"),
    "0.5,1\nk.A.,0\n": (
        "",
        "pass Reading(drop_missing=True, missing=('k.A.',)).",
        'pass --drop-missing --missing "k.A.".',
    ),
}
"""Rows that are none, and the way out for a caller with arrays, a caller with a file, and a command line."""


@pytest.mark.parametrize("text", ROWS)
def test_one_refusal_has_words_for_arrays_for_files_and_for_the_shell(run: Run, here: Path, text: str) -> None:
    arrays, files, shell = ROWS[text]
    (here / "a.csv").write_text("p,y\n" + text)
    if arrays:
        columns = [line.split(",") for line in text.split()]
        with pytest.raises(ValueError) as told:
            calcert.certify(*([float(row[k]) for row in columns] for k in (0, 1)))
        assert arrays in str(told.value)
        assert "--" not in str(told.value)
    with pytest.raises(ValueError) as told:
        calcert.certify(here / "a.csv", score="p", label="y")
    assert files in str(told.value)
    assert "--" not in str(told.value)
    words = run("certify", "a.csv", "--score", "p", "--label", "y").stderr
    assert shell in words
    assert "Reading(" not in words


def test_a_workbook_of_two_sheets_is_told_of_reading_in_python(run: Run, here: Path) -> None:
    book = openpyxl.Workbook()
    book.create_sheet("Two words")
    book.save(here / "export.xlsx")
    with pytest.raises(ValueError, match=r"it has 'Sheet', 'Two words'\. Pass Reading\(sheet='Sheet'\)\.") as told:
        calcert.certify(here / "export.xlsx")
    assert "--" not in str(told.value)
    assert "Pass --sheet Sheet." in run("certify", "export.xlsx").stderr
    assert "--sheet must be one of export.xlsx; got 'X'." in run("certify", "export.xlsx", "--sheet", "X").stderr


def test_a_refusal_is_an_object() -> None:
    with pytest.raises(Refused) as told:
        calcert.certify([0.5, 1.73], [1, 0])
    refused = told.value
    assert isinstance(refused, ValueError)
    assert (refused.argument, refused.requirement, refused.value) == ("scores", "must lie in [0, 1]", "1.73")
    assert refused.place == "at row 1"
    assert isinstance(refused.ways[0], Way)
    assert isinstance(WrongType("a", "must be b"), TypeError)


def test_a_traceback_begins_with_what_callers_catch() -> None:
    for refused, name in ((WrongValue("a", "must be b"), "ValueError"), (WrongType("a", "must be b"), "TypeError")):
        assert traceback.format_exception_only(refused) == [f"{name}: a must be b.\n"]
    assert traceback.format_exception_only(NoRows.of("the table"))[0].startswith("ValueError: the table must hold")


def test_one_of_several_models_is_named() -> None:
    with pytest.raises(ValueError, match=r"^new: scores must lie in \[0, 1\]; got 1\.7 at row 1\. For logits"):
        calcert.compare({"old": [0.5, 0.25], "new": [0.5, 1.7]}, [1, 0])


def test_a_refusal_survives_the_way_from_another_process() -> None:
    refused = bad_score(np.array([50.0, 7.0]), 0)
    refused.audience = "files"
    again = pickle.loads(pickle.dumps(refused))
    assert type(again) is WrongValue
    assert str(again) == str(refused)
    assert again.words({"percent": "--percent"}) == refused.words({"percent": "--percent"})


def test_arguments_are_options_where_the_command_has_them() -> None:
    unit = ("must be whole multiples of ", Argument("weight_unit"), " = 1")
    refused = WrongValue("weights", unit, "2.5", "", ("Pass ", Argument("weight_unit", 0.1), "."))
    assert str(refused) == "weights must be whole multiples of weight_unit = 1; got 2.5. Pass weight_unit=0.1."
    options = {"weight_unit": "--weight-unit", "sheet": "--sheet", "missing": "--missing"}
    assert (
        refused.words(options)
        == "weights must be whole multiples of --weight-unit = 1; got 2.5. Pass --weight-unit 0.1."
    )
    named = WrongValue("a", "must be b", None, "", (reading("sheet", "Two words"), reading("missing", ("-", "x"))))
    assert named.words(options) == 'a must be b. --sheet "Two words"--missing - --missing x'
    assert str(named) == "a must be b. Reading(sheet='Two words')Reading(missing=('-', 'x'))"


def test_standard_input_is_called_so(run: Run) -> None:
    said = run("certify", "-", "--score", "q", input="p,y\n0.5,1\n").stderr
    assert "--score must be a column of standard input; got 'q'." in said
    assert "got 2 on line 3 of standard input." in run("certify", "-", input="p,y\n0.5,1\n0.5,2\n").stderr


def test_commands_inside_a_group_and_models_have_their_own_options(run: Run, here: Path) -> None:
    (here / "two.csv").write_text("p,y\n0.5,1\n0.3,2\n")
    added = run("monitor", "add", "a.state", "two.csv", "--batch-id", "1", "--score", "p", "--label", "y").stderr
    assert "For classes 1 and 2 pass --positive 2." in added
    year = run("monitor", "add", "a.state", "two.csv", "--batch-id", "1", "--window", "year").stderr
    assert "--window must be day, week or month; got 'year'. For a window of your own pass --window-name year." in year
    compared = run("compare", "two.csv", "--scores", "q,p", "--label", "y").stderr
    assert "must be a column of two.csv; got 'q'." in compared
    assert "--score " not in compared


def test_what_goes_wrong_is_said_in_options(run: Run, portfolio: Path) -> None:
    def said(*options: str) -> str:
        return run("certify", "portfolio.csv", "--score", "PD", "--label", "Ausfall", *options).stderr

    assert "If they are percentages, pass --percent; if some are shares, --mixed-percent." in said()
    assert 'with a decimal point, or --decimal "," must be given' in said("--percent")
    assert "For labels in words name the one that means 1: --positive." in said("--percent", "--decimal", ",")
    assert "unusable labels such as 'N' and 'J'" in said("--percent", "--decimal", ",")
    assert "pass --drop-missing" in said("--percent", "--decimal", ",", "--positive", "J")
    assert "In 800 rows: 1 missing scores, 1 missing labels." in said("--percent", "--decimal", ",", "--positive", "J")
    unknown = said("--decimal", ",", "--percent", "--positive", "X", "--drop-missing")
    assert "--positive must be a label of portfolio.csv; got 'X'." in unknown
    assert "--missing must come with --drop-missing" in said("--missing", "-")


def test_what_is_not_utf_8_is_said_to_be_so(run: Run, here: Path) -> None:
    (here / "a.csv").write_bytes("PD_Ü;y\n0,5;schön\n".encode("latin-1"))
    words = run("certify", "a.csv", "--score", "PD_Ü", "--label", "y").stderr
    assert "names of columns must be text in UTF-8" in words
    assert "such as --encoding cp1252 for files of Windows" in words
    found = run("certify", "a.csv", "--score", "PD_Ü", "--label", "y", "--encoding", "cp1252", "--decimal", ",")
    assert "got 'schön' on line 2" in found.stderr
    (here / "b.csv").write_bytes("p;y\n0,5;schön\n0,5;N\n".encode("latin-1"))
    words = run("certify", "b.csv", "--decimal", ",", "--score", "p", "--label", "y", "--positive", "schön").stderr
    assert "not UTF-8: pass --encoding, or save it as CSV UTF-8." in words
    assert "must come with a workbook" in run("certify", "a.csv", "--sheet", "Daten").stderr


def test_perturb_is_not_told_of_options_that_it_lacks(run: Run, here: Path) -> None:
    (here / "a.csv").write_text("p,y\n50%,1\n")
    said = run("perturb", "a.csv", "b.csv", "--score", "p").stderr
    assert "write score/100 to the file" in said
    assert "--percent" not in said
