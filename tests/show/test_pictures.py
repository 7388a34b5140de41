"""What the pictures show: the numbers of the results, in the places and words a reader looks for."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import StepPatch

import calcert
from calcert.certificates.band import calibration_band
from calcert.commands.simulated_rows import simulate
from calcert.foundation.number_text import at_least, at_most, rows_about
from calcert.reports.noise_costs import noise_costs
from calcert.reports.plan import Plan, plan
from calcert.reports.report import Report
from calcert.show.pictures.canvas import Picture
from calcert.show.pictures.intervals import short
from calcert.show.pictures.served_curve import BINS, STRETCHES, reliability
from calcert.show.pictures.terms import TERMS, terms


@pytest.fixture(scope="module")
def report() -> Report:
    return calcert.certify(*simulate(20_000, seed=0), settings=calcert.Settings(odds=1 / 16, variation=1))


@pytest.fixture(scope="module")
def wanted(report: Report) -> Plan:
    assert report.summary is not None
    return plan(report.summary, 0.045, statement="perturbed")


def legend(axes: Axes) -> list[str]:
    found = axes.get_legend()
    assert found is not None
    return [text.get_text() for text in found.get_texts()]


def outlines(axes: Axes) -> list[StepPatch]:
    """The steps that are drawn as lines."""
    return [patch for patch in axes.patches if isinstance(patch, StepPatch) and not patch.get_fill()]


def overlapping_texts(figure: Figure) -> list[tuple[str, str]]:
    """Pairs of words that lie on each other once drawn."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    boxes = []
    for axes in figure.axes:
        texts = [*axes.texts, axes.title, axes._left_title, axes.xaxis.label, axes.yaxis.label]  # type: ignore[attr-defined]
        texts += [*axes.get_xticklabels(), *axes.get_yticklabels()]
        named = axes.get_legend()
        texts += [] if named is None else named.get_texts()
        boxes += [(t.get_text(), t.get_window_extent(renderer)) for t in texts if t.get_text() and t.get_visible()]
    return [
        (first[0], second[0])
        for i, first in enumerate(boxes)
        for second in boxes[i + 1 :]
        if first[1].overlaps(second[1]) and first[0] != second[0]
    ]


def test_reliability_shows_the_numbers_of_the_band(report: Report) -> None:
    axes = reliability(report)
    assert report.summary is not None
    band = calibration_band(report.summary).thinned(STRETCHES)
    filled = next(p for p in axes.patches if isinstance(p, StepPatch) and p.get_fill())
    shown = filled.get_data()
    np.testing.assert_array_equal(shown.values, band.upper)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(shown.baseline, band.lower)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(shown.edges, band.edges)  # type: ignore[attr-defined]
    curve, diagonal = axes.get_lines()
    np.testing.assert_array_equal(curve.get_ydata(), band.estimate)
    np.testing.assert_array_equal(curve.get_xdata(), band.t)
    assert diagonal.get_xydata().tolist() == [[0, 0], [1, 1]]  # type: ignore[union-attr]
    assert axes.get_xlim() == axes.get_ylim() == (0, 1)


def test_reliability_says_what_is_certified(report: Report) -> None:
    axes = reliability(report)
    c = report.perturbed
    assert axes.get_title(loc="left") == (
        "Calibration error, served with perturbed scores:\n"
        f"certified between {at_least(c.lower)} and {at_most(c.upper)}"
    )
    assert legend(axes) == ["95% band, everywhere at once", "estimate, no guarantee", "perfect calibration"]
    assert axes.get_ylabel() == "chance of label 1"


def test_densities_of_both_labels_stand_below_and_share_the_scores(report: Report) -> None:
    axes = reliability(report)
    below = next(other for other in axes.figure.axes if other is not axes)
    assert legend(below) == ["label 0", "label 1"]
    assert below.get_xlabel() == "served score"
    assert below.get_xlim() == axes.get_xlim()
    negative, positive = (np.asarray(steps.get_data()[0]) for steps in outlines(below))
    assert negative.max() == positive.max() == 1
    assert negative.argmax() < positive.argmax()


@pytest.mark.parametrize("score", [0.0, 1e-9, 1 - 1e-9, 1.0])
def test_rows_at_the_ends_have_a_mark_and_a_peak(score: float) -> None:
    rng = np.random.default_rng(0)
    x = np.append(rng.random(4_000), np.full(1_000, score))
    report = calcert.certify(x, rng.random(5_000) < 0.2 + 0.1 * x, settings=calcert.Settings(odds=1 / 16))
    axes = reliability(report)
    (mark,) = axes.containers
    end = report.band.ends[round(score)]
    assert mark.get_children()[0].get_xydata().tolist() == [[round(score), end.estimate]]  # type: ignore[attr-defined]
    assert "served within 1e-06 of 0 or 1: mean, 95%" in legend(axes)
    below = next(other for other in axes.figure.axes if other is not axes)
    for steps in outlines(below):
        assert np.argmax(steps.get_data()[0]) == (0 if score < 0.5 else BINS - 1)


def test_lines_differ_without_colour(report: Report) -> None:
    axes = reliability(report)
    curve, diagonal = axes.get_lines()
    assert curve.get_linestyle() != diagonal.get_linestyle()
    below = next(other for other in axes.figure.axes if other is not axes)
    assert len({steps.get_linestyle() for steps in outlines(below)}) == 2
    hatches = {bar.get_hatch() for bar in terms(report).patches}
    colours = {bar.get_facecolor() for bar in terms(report).patches}
    assert len(hatches) == len(colours) >= 4


def test_terms_stack_up_to_the_bounds(report: Report) -> None:
    axes = terms(report)
    for row, c in enumerate(report.certificates.values()):
        bars = [bar for bar in axes.patches if abs(bar.get_y() + bar.get_height() / 2 - row) < 1e-9]  # type: ignore[attr-defined]
        assert [bar.get_width() for bar in bars] == pytest.approx(  # type: ignore[attr-defined]
            [c.terms[name] for name in TERMS if c.terms.get(name, 0) > 0]
        )
        assert max(bar.get_x() + bar.get_width() for bar in bars) == pytest.approx(c.upper)  # type: ignore[attr-defined]
    marks = [float(np.asarray(line.get_xdata())[0]) for line in axes.get_lines()]
    assert marks == [c.lower for c in report.certificates.values() if c.lower > 0]
    assert [text.get_text() for text in axes.texts] == [f"{at_most(c.upper)}" for c in report.certificates.values()]
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "perturbed",
        "in the large",
        "L1",
        "cutoff",
        "distance",
    ]
    assert legend(axes) == ["plug-in", "sampling", "group bias", "certified at least"]


def test_plan_is_drawn_with_its_target_and_named_an_estimate(wanted: Plan) -> None:
    axes = wanted.plot().axes[0]
    upper, lower, now, target, *_ = axes.get_lines()
    assert list(upper.get_xdata()) == list(wanted.sizes)
    assert list(upper.get_ydata()) == list(wanted.uppers)
    assert list(lower.get_ydata()) == list(wanted.lowers)
    assert list(now.get_ydata()) == [wanted.now.lower, wanted.now.upper]
    assert list(target.get_ydata()) == [0.045, 0.045]
    assert wanted.rows is not None
    rows = rows_about(wanted.rows)
    assert axes.get_title(loc="left") == f"At most 0.045 takes about {rows} rows (estimate)"
    marks = ["at most (estimate)", "at least (estimate)", "certified now", "target 0.045"]
    assert legend(axes) == [*marks, "rows that are likely to do"]
    (likely,) = axes.patches
    assert likely.get_x() == wanted.fewest
    assert wanted.most is None
    assert likely.get_x() + likely.get_width() > wanted.sizes[-1]
    assert axes.get_xscale() == "log"


def test_bandwidths_are_drawn_with_what_they_cost_and_buy(report: Report) -> None:
    assert report.summary is not None
    costs = noise_costs(report.summary, bandwidths=[1 / 256, 1 / 64, 1 / 8], odds=[1 / 16, 1 / 2])
    axes, below = costs.plot().axes
    for panel, column in ((axes, "auroc"), (below, "upper")):
        for marks, kind in zip(panel.collections, ("odds", "additive"), strict=False):
            rows = [row for row in costs.rows if row.noise.kind == kind]
            expected = [(row.noise.size, getattr(row, column)) for row in rows]
            np.testing.assert_allclose(marks.get_offsets(), expected)
            assert [alpha > 0 for *_, alpha in marks.get_facecolor()] == [row.fits_rare_events for row in rows]
    assert below.xaxis.get_major_formatter()(1 / 64, 0) == "1/64"
    certified = ["certified, all of odds together", "certified, all of bandwidth together"]
    assert legend(below) == [*certified, "too large for the rarer label"]
    assert axes.get_ylabel() == "AUROC (estimate)"


def test_no_words_lie_on_each_other(report: Report, wanted: Plan) -> None:
    for axes in (reliability(report), terms(report)):
        assert overlapping_texts(axes.figure) == []  # type: ignore[arg-type]
    assert overlapping_texts(report.plot()) == overlapping_texts(wanted.plot()) == []
    crowded = Figure()
    crowded.subplots().set_title("too long a title to stand beside another one" * 2, loc="left")
    crowded.axes[0].set_title("another one")
    assert overlapping_texts(crowded) != []


def test_report_plots_both_pictures_or_into_the_axes_given(report: Report) -> None:
    both = report.plot()
    assert isinstance(both, Picture)
    assert len(both.axes) == 3
    own = Figure()
    first, second = own.subplots(1, 2)
    assert report.plot(ax=first) is own
    assert len(own.axes) == 3
    assert not second.patches
    own = Figure()
    assert report.plot(ax=tuple(own.subplots(1, 2))) is own
    assert any(axes.get_title(loc="left") == "What the upper bounds are made of" for axes in own.axes)
    free = Figure()
    placed = free.add_axes((0.2, 0.2, 0.6, 0.6))
    report.plot(ax=placed)
    top, bottom = (axes.get_position() for axes in free.axes)
    assert bottom.y0 == pytest.approx(0.2)
    assert bottom.y1 < top.y0
    assert top.y1 == pytest.approx(0.8)


def test_drawing_leaves_no_global_state(report: Report) -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    report.plot()
    assert dict(matplotlib.rcParams) == before
    if "matplotlib.pyplot" in sys.modules:
        assert sys.modules["matplotlib.pyplot"].get_fignums() == []


def test_rare_events_are_shown_where_the_scores_are() -> None:
    rng = np.random.default_rng(1)
    x = rng.beta(1, 200, 30_000)
    axes = reliability(calcert.certify(x, rng.random(x.size) < x, settings=calcert.Settings(bandwidth=2.0**-11)))
    low, high = axes.get_xlim()
    assert low == 0
    assert np.quantile(x, 0.99) < high < 0.1
    curve = axes.get_lines()[0]
    assert np.asarray(curve.get_xdata()).size > 200


def test_report_without_rows_says_so() -> None:
    stored = Report.from_dict(calcert.certify([0.2, 0.7] * 50, [0, 1] * 50).to_dict())
    with pytest.raises(ValueError, match="the report must hold the Summary of its rows"):
        stored.plot()
    assert terms(stored).get_title(loc="left") == "What the upper bounds are made of"


def test_vacuous_and_one_label_reports_are_drawn() -> None:
    for scores, labels in (([0.3], [1]), ([0.0, 1.0], [0, 0]), ([1.0] * 30, [1] * 30)):
        calcert.certify(scores, labels).plot().savefig(io.BytesIO(), format="pdf")


def test_notebooks_get_vector_output(report: Report) -> None:
    picture = report.plot()
    assert isinstance(picture, Picture)
    assert picture._repr_svg_().lstrip().startswith("<?xml")


def test_names_that_differ_in_a_byte_that_is_no_utf_8_differ_in_pictures() -> None:
    assert short("M\udce4r") == r"M\udce4r"
    assert short("two\nlines\t") == "two lines"
