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
from calcert.commands.demo import simulate
from calcert.foundation.number_text import at_least, at_most, rows_about
from calcert.reports.noise_costs import noise_costs
from calcert.reports.plan import Plan, plan
from calcert.reports.report import Report
from calcert.show.canvas import short
from calcert.show.picture import Picture
from calcert.show.reliability import DENSITY_BINS, STEPS, perturbed_curve, reliability


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
    axes = perturbed_curve(report)
    assert report.summary is not None
    band = calibration_band(report.summary).thinned(STEPS)
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
    axes = perturbed_curve(report)
    c = report.perturbed
    assert axes.get_title(loc="left") == (
        f"Calibration error of perturbed scores:\ncertified between {at_least(c.lower)} and {at_most(c.upper)}"
    )
    assert legend(axes) == ["95% band, simultaneous", "estimate, no guarantee", "perfect calibration"]
    assert axes.get_ylabel() == "probability of label 1"


def test_densities_of_both_labels_stand_below_and_share_the_scores(report: Report) -> None:
    axes = perturbed_curve(report)
    below = next(other for other in axes.figure.axes if other is not axes)
    assert legend(below) == ["label 0", "label 1"]
    assert below.get_xlabel() == "perturbed score"
    assert below.get_xlim() == axes.get_xlim()
    negative, positive = (np.asarray(steps.get_data()[0]) for steps in outlines(below))
    assert negative.max() == positive.max() == 1
    assert negative.argmax() < positive.argmax()


@pytest.mark.parametrize("score", [0.0, 1e-9, 1 - 1e-9, 1.0])
def test_rows_at_the_ends_have_a_mark_and_a_peak(score: float) -> None:
    rng = np.random.default_rng(0)
    x = np.append(rng.random(4_000), np.full(1_000, score))
    report = calcert.certify(x, rng.random(5_000) < 0.2 + 0.1 * x, settings=calcert.Settings(odds=1 / 16))
    axes = perturbed_curve(report)
    (mark,) = axes.containers
    end = report.band.ends[round(score)]
    assert mark.get_children()[0].get_xydata().tolist() == [[round(score), end.estimate]]  # type: ignore[attr-defined]
    assert "perturbed score within 1e-06 of 0 or 1: mean, 95%" in legend(axes)
    below = next(other for other in axes.figure.axes if other is not axes)
    for steps in outlines(below):
        assert np.argmax(steps.get_data()[0]) == (0 if score < 0.5 else DENSITY_BINS - 1)


def test_lines_differ_without_colour(report: Report) -> None:
    axes = perturbed_curve(report)
    curve, diagonal = axes.get_lines()
    assert curve.get_linestyle() != diagonal.get_linestyle()
    below = next(other for other in axes.figure.axes if other is not axes)
    assert len({steps.get_linestyle() for steps in outlines(below)}) == 2


def test_the_current_scores_are_drawn_as_dots_over_the_certified_band_and_nothing_without_rows() -> None:
    rng = np.random.default_rng(2)
    x = np.append(rng.uniform(0.05, 0.25, 2_000), rng.uniform(0.7, 0.9, 2_000))
    found = calcert.certify(x, rng.random(4_000) < x)
    axes = reliability(found)
    upper, edges, lower = axes.patches[0].get_data()  # type: ignore[attr-defined]
    middle = (edges[1:] + edges[:-1]) / 2
    there = ~np.isnan(upper)
    least, most = found.curve.at(middle[there])  # type: ignore[union-attr]
    np.testing.assert_array_equal(upper[there], most)
    np.testing.assert_array_equal(lower[there], least)
    assert not there[(middle > 0.3) & (middle < 0.65)].any()
    assert there[(middle > 0.1) & (middle < 0.2)].all()
    dots = next(line for line in axes.get_lines() if line.get_marker() == "o")
    assert np.asarray(dots.get_xdata()).size == 20
    assert legend(axes) == ["95% band, if the curve never falls", "rows with similar scores", "no error"]
    few = reliability(calcert.certify(x[::20], rng.random(200) < x[::20]))
    assert np.asarray(next(line for line in few.get_lines() if line.get_marker() == "o").get_xdata()).size == 5


def test_a_lump_at_1_has_a_mark_with_its_share_and_stands_out_in_the_histogram() -> None:
    rng = np.random.default_rng(3)
    x = np.append(rng.random(9_000), np.ones(1_000))
    y = np.append(rng.random(9_000) < x[:9_000], np.arange(1_000) < 280)
    axes = reliability(calcert.certify(x, y))
    mark = next(line for line in axes.get_lines() if line.get_marker() == "D")
    assert np.asarray(mark.get_xydata()).tolist() == [[1.0, 0.28]]
    assert "1,000 rows at 1" in legend(axes)
    below = next(other for other in axes.figure.axes if other is not axes)
    heights = np.asarray(below.patches[0].get_data()[0])  # type: ignore[attr-defined]
    assert heights[-1] > 4 * heights[:-1].max()


def test_axes_fit_the_scores_and_rows_in_clusters_have_dots_without_a_band() -> None:
    rng = np.random.default_rng(4)
    x = rng.beta(0.5, 60, 20_000)
    axes = reliability(calcert.certify(x, rng.random(x.size) < x / 3, clusters=np.arange(x.size) // 2))
    assert np.quantile(x, 0.99) < axes.get_xlim()[1] < 0.1
    assert axes.get_ylim()[1] < 0.15
    assert not axes.patches
    assert legend(axes) == ["rows with similar scores", "no error"]


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
    for axes in (reliability(report), perturbed_curve(report)):
        assert overlapping_texts(axes.figure) == []  # type: ignore[arg-type]
    assert overlapping_texts(report.plot()) == overlapping_texts(wanted.plot()) == []
    crowded = Figure()
    crowded.subplots().set_title("too long a title to stand beside another one" * 2, loc="left")
    crowded.axes[0].set_title("another one")
    assert overlapping_texts(crowded) != []


def test_report_plots_one_picture_or_into_the_axes_given(report: Report) -> None:
    alone = report.plot()
    assert isinstance(alone, Picture)
    assert len(alone.axes) == 2
    own = Figure()
    first, second = own.subplots(1, 2)
    assert report.plot(ax=first) is own
    assert len(own.axes) == 3
    assert not second.patches
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
    axes = perturbed_curve(calcert.certify(x, rng.random(x.size) < x, settings=calcert.Settings(bandwidth=2.0**-11)))
    low, high = axes.get_xlim()
    assert low == 0
    assert np.quantile(x, 0.99) < high < 0.1
    curve = axes.get_lines()[0]
    assert np.asarray(curve.get_xdata()).size > 200


def test_report_without_rows_says_so() -> None:
    stored = Report.from_dict(calcert.certify([0.2, 0.7] * 50, [0, 1] * 50).to_dict())
    with pytest.raises(ValueError, match="the report must hold the Summary of its rows"):
        stored.plot()


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
