"""What goes wrong is said in words for a command line: options, not arguments of Python."""

from __future__ import annotations

from pathlib import Path

from calcert.commands.shell_words import in_shell_words

from .conftest import Run


def test_advice_for_python_becomes_advice_for_a_shell() -> None:
    said = "it has the columns 'a', 'b'. Pass score='...' and label='...'."
    assert in_shell_words(said) == "it has the columns 'a', 'b'. Pass --score COLUMN and --label COLUMN."
    assert "scipy" not in in_shell_words("got 3.2 at row 1. For logits pass scipy.special.expit(scores).")
    both = in_shell_words("For log-probabilities pass numpy.exp(scores), for logits scipy.special.expit(scores).")
    assert both.startswith("If they are log-probabilities, write exp(score) to the file; if they are logits, 1/(1")


def test_arguments_that_are_options_are_called_so() -> None:
    said = "weights must be whole multiples of weight_unit = 1; got 2.5. Pass a weight_unit, as largest_weight=4 is."
    assert in_shell_words(said) == (
        "weights must be whole multiples of --weight-unit = 1; got 2.5. Pass a --weight-unit, as --largest-weight 4 is."
    )
    assert in_shell_words("got 'weight_unit' and my_weight_unit") == "got 'weight_unit' and my_weight_unit"


def test_what_goes_wrong_is_said_in_options(run: Run, portfolio: Path) -> None:
    def said(*options: str) -> str:
        return run("certify", "portfolio.csv", "--score", "PD", "--label", "Ausfall", *options).stderr

    assert "If they are percentages, pass --percent." in said()
    assert "with a decimal point, or --decimal , must be given" in said("--percent")
    assert "pass --positive and the one that means 1" in said("--percent", "--decimal", ",")
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
    assert "such as --encoding 'cp1252' for files of Windows" in words
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
