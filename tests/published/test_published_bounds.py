"""Claims about the four published methods: they are the formulas, printed or ours, and they never break."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calcert
from calcert import published
from calcert.foundation.number_text import at_most
from calcert.kernels import strings, windows
from calcert.perturbation.noise import perturb
from calcert.published.bound import OVERSHOOT, POOLED, REALISED, UNNEEDED, Curve
from calcert.published.buckets import bucketed, cuts_of
from calcert.published.folded_rows import fold_rows, single_split
from calcert.published.perturb_and_smooth import plug_in_window, smoothed
from calcert.published.total_variation import denoised
from tests.as_python import as_python
from tests.published import literal_reading

METHODS = {
    "total variation": published.total_variation,
    "perturb and smooth": published.perturb_and_smooth,
    "buckets, constant": partial(published.lipschitz_buckets, constant=2.0, buckets=(2, 16, 128), shifts=2),
    "buckets, bandwidth": partial(published.lipschitz_buckets, bandwidth=1 / 64, buckets=(2, 16, 512), shifts=3),
}
methods = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
readings = pytest.mark.parametrize("per_fold", [False, True], ids=["pooled", "per fold"])


def data(n, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.beta(0.7, 0.9, n)
    return scores, (rng.random(n) < scores**2).astype(np.int8)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(11)
    scores, labels = data(2000)
    return fold_rows(perturb(scores, bandwidth=1 / 16, rng=rng), labels, folds=5, rng=rng)


@readings
def test_total_variation_is_the_printed_formula(rows, per_fold):
    bound = denoised(rows, variation=1.3, delta=0.07, per_fold=per_fold)
    assert bound.value == pytest.approx(literal_reading.total_variation(rows, 1.3, 0.07, per_fold), abs=1e-10)


@readings
@pytest.mark.parametrize("bandwidth", [1 / 16, 1 / 400])
def test_perturb_and_smooth_is_the_printed_formula(rows, bandwidth, per_fold):
    b1, b2 = published.derivative_bounds(bandwidth)
    bound = smoothed(rows, slopes=(b1, b2), delta=0.07, per_fold=per_fold)
    assert bound.value == pytest.approx(literal_reading.perturb_and_smooth(rows, b1, b2, 0.07, per_fold), abs=1e-10)


def test_the_printed_letter_changes_the_scale_and_the_last_term_only(rows):
    b1, b2 = published.derivative_bounds(1 / 16)
    literal = literal_reading.perturb_and_smooth(rows, b1, b2, 0.07, False, printed=1 / 16)
    bound = smoothed(rows, slopes=(b1, b2), delta=0.07, per_fold=False, printed=1 / 16)
    assert bound.value == pytest.approx(literal, abs=1e-10)
    given = {"bandwidth": 1 / 16, "perturbed": True, "folds": 2, "rng": 0}
    ours, letter = (published.perturb_and_smooth(*data(2000), scale=s, **given) for s in ("smoother", "perturbation"))  # type: ignore[arg-type]
    changed = [name for name in ours.terms if ours.terms[name] != letter.terms[name]]
    assert changed == ["Bernstein, error"]
    # R = 1/2 + 3/4 + 1/2 at every bandwidth; the variance of g/R times R^2 does not depend on R, the rest is linear.
    window = plug_in_window(1000, (b1, b2))
    more = 7 / 4 - (b1 * window + b2 * window**2 / 2 + 1 / 2)
    linear = 3 * np.log(3 / 0.025) / 2000
    assert letter.terms[changed[0]] - ours.terms[changed[0]] == pytest.approx(more * linear, abs=1e-12)
    with pytest.raises(ValueError, match='scale must be "smoother" or "perturbation"'):
        published.perturb_and_smooth(*data(100), scale="h")  # type: ignore[arg-type]


def halves(n):
    """A split of n rows that has nothing to do with their order."""
    return np.random.default_rng(1).random(n) < 0.4


def test_a_given_split_has_the_printed_formulas_and_all_its_validation_rows():
    scores, labels = data(2000)
    held_out = halves(2000)
    rows = single_split(scores, labels, held_out)
    slopes = published.derivative_bounds(1 / 16)
    smooth = published.perturb_and_smooth(scores, labels, slopes=slopes, validation=held_out, delta=0.07)
    assert smooth.value == pytest.approx(
        literal_reading.perturb_and_smooth(rows, *slopes, 0.07, per_fold=False), abs=1e-10
    )
    flat = published.total_variation(scores, labels, variation=1.3, validation=held_out, delta=0.07)
    assert flat.value == pytest.approx(literal_reading.total_variation(rows, 1.3, 0.07, per_fold=False), abs=1e-10)
    for bound in (smooth, flat):
        assert [(fold.training_rows, fold.validation_rows) for fold in bound.folds] == [
            (np.sum(~held_out), np.sum(held_out))
        ]
        assert bound.parameters["reading"] == "given split"
        assert POOLED not in bound.faults
    assert flat.guarantee.startswith("At least the calibration error with probability 0.93")
    assert flat.faults == (UNNEEDED,)
    assert smooth.faults == (REALISED, OVERSHOOT)


def test_a_split_stays_with_its_rows_when_they_are_perturbed_and_in_any_order():
    scores, labels = data(2000)
    held_out, mixed = halves(2000), np.random.default_rng(2).permutation(2000)
    one, other = (
        published.perturb_and_smooth(scores[at], labels[at], slopes=(3.0, 9.0), validation=held_out[at])
        for at in (slice(None), mixed)
    )
    assert one.value == pytest.approx(other.value, abs=1e-14)
    moved = published.perturb_and_smooth(scores, labels, bandwidth=1 / 16, validation=held_out, rng=5)
    at_once = perturb(scores, bandwidth=1 / 16, rng=5)
    split = published.perturb_and_smooth(at_once, labels, bandwidth=1 / 16, perturbed=True, validation=held_out)
    assert moved.value == split.value


def test_slopes_take_the_place_of_a_perturbation():
    scores, labels = data(2000)
    b1, b2 = published.derivative_bounds(1 / 16)
    given = published.perturb_and_smooth(scores, labels, slopes=(b1, b2), rng=3)
    perturbed = published.perturb_and_smooth(scores, labels, bandwidth=1 / 16, perturbed=True, rng=3)
    assert given.value == perturbed.value
    sharper = published.perturb_and_smooth(scores, labels, slopes=(b1, 9 / (8 * (1 / 16) ** 2)), rng=3)
    assert sharper.value < given.value
    for wrong in ((1.0,), (1.0, -1.0), (np.inf, 1.0), (np.nan, 1.0), "ab", 3.0):
        with pytest.raises(ValueError, match="slopes must be two numbers that are not negative"):
            published.perturb_and_smooth(scores, labels, slopes=wrong)  # type: ignore[arg-type]
    for more in ({"bandwidth": 1 / 64}, {"perturbed": True}, {"scale": "perturbation"}):
        with pytest.raises(ValueError, match="slopes take the place of a perturbation"):
            published.perturb_and_smooth(scores, labels, slopes=(b1, b2), **more)


@pytest.mark.parametrize("method", [published.total_variation, published.perturb_and_smooth])
def test_a_split_that_is_none_is_refused(method):
    scores, labels = data(100)
    for mask in (np.zeros(99, bool), np.zeros(100), [0, 1] * 50, np.zeros((100, 1), bool)):
        with pytest.raises(ValueError, match="validation must be a boolean array with one value per row"):
            method(scores, labels, validation=mask)
    for marked in (0, 99, 100):
        with pytest.raises(ValueError, match=f"leave 2 to train on; it marks {marked} of 100"):
            method(scores, labels, validation=np.arange(100) < marked)
    assert method(scores, labels, validation=np.arange(100) < 98).value > 0
    with pytest.raises(ValueError, match="validation and folds exclude each other"):
        method(scores, labels, validation=halves(100), folds=3)


@readings
def test_lipschitz_buckets_is_our_formula(rows, per_fold):
    counts = (2, 5, 300)
    bound = bucketed(rows, constant=3.0, cuts=cuts_of(counts, 2), delta=0.07, per_fold=per_fold)
    literal = literal_reading.lipschitz_buckets(rows, 3.0, counts, 2, 0.07, per_fold)
    assert bound.value == pytest.approx(literal, abs=1e-10)


@pytest.mark.parametrize("scheme", ["width", "mass"])
@pytest.mark.parametrize("bins", [1, 7, 15, 400])
def test_ece_is_the_usual_formula(bins, scheme):
    for scores, labels in (data(1000), (np.round(data(1000)[0], 1), data(1000)[1])):
        bound = published.ece(scores, labels, bins=bins, scheme=scheme)
        assert bound.value == pytest.approx(literal_reading.ece(scores, labels, bins, scheme), abs=1e-12)


def test_a_bound_prints_without_the_points_of_its_curves():
    bound = published.ece(np.linspace(0, 1, 50), np.arange(50) % 2)
    assert "Guarantee: none: a heuristic." in str(bound) == repr(bound)
    assert "knots" not in repr(bound)
    assert "knots" not in repr(published.total_variation(*data(1000), rng=0).folds)


def test_numbers_say_what_they_are_and_what_they_promise():
    bound = published.total_variation(*data(3000), rng=0)
    first, *rest = str(bound).split("\n")
    assert first == f"Total variation: at most {at_most(bound.value)} at nominal confidence 0.95 (3,000 rows)."
    assert all(name in "\n".join(rest) for name in bound.terms)
    assert "<p>Total variation: at most" in (bound._repr_html_() or "")
    said = "The calibration curve has a slope of at most 32 and a curvature of at most 6,144."
    assert str(published.derivative_bounds(1 / 64)) == said


def test_a_comparison_begins_with_the_smallest_numbers():
    found = published.compare(*data(3000))
    theirs = min(found.published[name].value for name in ("total variation, pooled folds", "total variation, per fold"))
    said = (
        f"L1 error of current scores: at most {at_most(found.report.l1.upper)} by calcert, {at_most(theirs)} published."
    )
    assert said in " ".join(str(found).split("\n\n")[0].split())


@methods
@readings
def test_public_function_perturbs_folds_and_bounds(method, per_fold):
    scores, labels = data(3000)
    bound = method(scores, labels, per_fold=per_fold, rng=5)
    assert sum(bound.terms.values()) == pytest.approx(bound.value, abs=1e-15)
    assert bound.n == 3000
    assert len(bound.folds) == 5
    assert bound.faults
    assert bound.delta == 0.05
    assert not isinstance(bound, calcert.Certificate)
    grid = bound.curve(np.linspace(0, 1, 101))
    assert ((grid >= 0) & (grid <= 1)).all()
    if per_fold:
        assert bound.value == min(fold.value for fold in bound.folds)


def test_rows_may_come_perturbed():
    scores, labels = data(2000)
    rng = np.random.default_rng(8)
    served = perturb(scores, bandwidth=1 / 64, rng=rng)
    for method in (published.perturb_and_smooth, published.lipschitz_buckets):
        at_once = method(scores, labels, bandwidth=1 / 64, rng=8)
        in_two_steps = method(served, labels, bandwidth=1 / 64, perturbed=True, rng=np.random.default_rng(8))
        # The perturbation took its draws first, so the folds differ, but not by much.
        assert in_two_steps.value == pytest.approx(at_once.value, abs=0.05)


@methods
def test_a_seed_fixes_the_answer(method):
    scores, labels = data(2000)
    first, again, other = (method(scores, labels, rng=seed) for seed in (3, 3, 4))
    assert first.value == again.value
    assert first.terms == again.terms
    np.testing.assert_array_equal(first.curve.values, again.curve.values)
    assert first.value != other.value


@methods
@readings
@pytest.mark.parametrize(
    ("scores", "labels"),
    [
        ([0.5] * 40, [0, 1] * 20),
        ([0.0] * 40, [0] * 40),
        ([1.0] * 40, [1] * 40),
        ([0.0, 1.0] * 20, [0, 1] * 20),
        (np.linspace(0, 1, 40), [1] * 40),
        ([0.1, 0.2, 0.3, 0.4, 0.5], [0, 1, 0, 1, 1]),
        ([5e-324, 0.0, 1 - 1e-16, 1.0, 0.5], [0, 1, 0, 1, 1]),
    ],
)
def test_degenerate_data_have_an_answer(method, scores, labels, per_fold):
    bound = method(scores, labels, per_fold=per_fold, rng=0)
    assert np.isfinite(bound.value)
    assert bound.value > 0
    assert all(np.isfinite(term) for term in bound.terms.values())
    assert np.isfinite(bound.curve.values).all()


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 1)), min_size=5, max_size=30),
    st.sampled_from([1e-99, 0.05, 0.499]),
    st.integers(2, 5),
    st.booleans(),
)
def test_no_data_make_a_nan(rows, delta, folds, per_fold):
    scores, labels = [s for s, _ in rows], [y for _, y in rows]
    for method in METHODS.values():
        assert method(scores, labels, delta=delta, folds=folds, per_fold=per_fold, rng=0).value > 0  # type: ignore[operator]
    for scheme in ("width", "mass"):
        assert 0 <= published.ece(scores, labels, scheme=scheme).value <= 1


@methods
def test_too_few_rows_are_refused(method):
    with pytest.raises(ValueError, match="5-fold cross-fitting needs at least 5 rows; got 4"):
        method([0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1])


@methods
def test_bad_input_is_refused_as_in_the_core(method):
    with pytest.raises(ValueError, match="scores must lie in"):
        method([0.1, 1.5] * 5, [0, 1] * 5)
    with pytest.raises(ValueError, match="labels must be 0 or 1"):
        method([0.1, 0.5] * 5, [0, 2] * 5)
    with pytest.raises(ValueError, match="delta must lie"):
        method([0.1, 0.5] * 5, [0, 1] * 5, delta=1.0)
    with pytest.raises(ValueError, match="delta must be at least 1e-100"):
        method([0.1, 0.5] * 5, [0, 1] * 5, delta=5e-324)


@pytest.mark.parametrize("arguments", [{}, {"constant": 1.0, "bandwidth": 0.1}])
def test_buckets_need_either_a_constant_or_a_bandwidth(arguments):
    with pytest.raises(ValueError, match="give either constant"):
        published.lipschitz_buckets(*data(100), **arguments)


def test_bad_settings_are_refused_by_name():
    scores, labels = data(100)
    with pytest.raises(TypeError, match="buckets must be a sequence"):
        published.lipschitz_buckets(scores, labels, constant=1.0, buckets=8)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="buckets must be a whole number between"):
        published.lipschitz_buckets(scores, labels, constant=1.0, buckets=(8, 0))
    with pytest.raises(ValueError, match="that is too many"):
        published.lipschitz_buckets(scores, labels, constant=1.0, buckets=range(1, 2000))
    with pytest.raises(ValueError, match="shifts must be a whole number between"):
        published.lipschitz_buckets(scores, labels, constant=1.0, shifts=0)
    with pytest.raises(ValueError, match="bins must be a whole number between"):
        published.ece(scores, labels, bins=0)
    with pytest.raises(ValueError, match='scheme must be "width" or "mass"'):
        published.ece(scores, labels, scheme="quantile")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="bandwidth must lie between"):
        published.perturb_and_smooth(scores, labels, bandwidth=1e-80)


@pytest.mark.parametrize("size", [1, 100, 10**4, 10**8])
@pytest.mark.parametrize("slopes", [(32.0, 6144.0), (0.5, 1.5), (0.0, 3.0), (2.0, 0.0), (1e6, 1e13)])
def test_plug_in_window_solves_its_equation(size, slopes):
    assert plug_in_window(size, slopes) == pytest.approx(literal_reading.window(size, *slopes), rel=1e-12)


def test_plug_in_window_without_slopes_is_the_widest():
    assert plug_in_window(10**9, (0.0, 0.0)) == 0.25


def test_derivative_bounds_dominate_the_sharper_ones_and_meet_them_for_small_bandwidths():
    for h in (1 / 64, 1 / 20, 0.3, 1.0, 10.0):
        b1, b2 = published.derivative_bounds(h)
        assert b1 >= np.tanh(1 / h) / (2 * h)
        assert b2 >= 3 * np.tanh(1 / h) ** 2 / (2 * h**2)
    assert np.tanh(20.0) == 1


def test_a_served_curve_of_any_law_bends_no_more_than_proved_and_half_of_the_slope_is_not_enough():
    rng, h = np.random.default_rng(0), 1 / 16
    step = h / 256
    t = np.arange(step, 1 - step / 2, step)
    steepest = most_bent = 0.0
    for _ in range(300):
        atoms, weight = rng.random(rng.integers(2, 7)), rng.random()
        chance = np.where(rng.random(atoms.size) < weight, rng.integers(0, 2, atoms.size), rng.random(atoms.size))
        within = np.arctan(np.sinh((1 - atoms) / h)) + np.arctan(np.sinh(atoms / h))
        density = rng.dirichlet(np.full(atoms.size, 0.5)) / within / np.cosh((t[:, None] - atoms) / h)
        curve = density @ chance / density.sum(axis=1)
        steepest = max(steepest, np.abs(np.diff(curve)).max() / step)
        most_bent = max(most_bent, np.abs(np.diff(curve, 2)).max() / step**2)
    slope, bend = published.derivative_bounds(h)
    assert slope / 2 < steepest <= slope
    assert most_bent <= 9 / (8 * h**2) < bend


def test_a_truncated_gaussian_has_slopes_of_the_order_that_the_paper_names_and_sech_meets_its_bound():
    # Half of the rows have score 0 and label 0, half score 1 and label 1.
    h, step = 1 / 64, 1e-7
    s = np.array([0.5 - step, 0.5 + step])

    def slope(log_kernel):
        odds = log_kernel((1 - s) / h) - log_kernel(s / h)
        return np.diff(1 / (1 + np.exp(-odds)))[0] / (2 * step)

    assert slope(lambda v: -(v**2) / 2) == pytest.approx(1 / (4 * h**2), rel=1e-4)
    assert slope(lambda v: -np.log(np.cosh(v))) == pytest.approx(published.derivative_bounds(h)[0], rel=1e-4)
    as_wide = 4 * 0.915965594 / np.pi / np.sqrt(2 / np.pi)  # Equal mean shift; Catalan's constant.
    assert as_wide == pytest.approx(1.46, abs=5e-3)
    assert 1 / (4 * (as_wide * h) ** 2) == pytest.approx(479, abs=0.5)


def test_bound_shrinks_with_data():
    for method in METHODS.values():
        small, large = (method(*data(n), rng=0).value for n in (2000, 200_000))  # type: ignore[operator]
        assert large < small / 1.5


def test_curves_average_pointwise():
    curves = [
        Curve(np.array([0.0, 0.5]), np.array([0.0, 1.0]), "step"),
        Curve(np.array([0.25]), np.array([0.5]), "step"),
    ]
    np.testing.assert_array_equal(Curve.mean(curves)([0.0, 0.3, 0.5, 1.0]), [0.25, 0.25, 0.75, 0.75])
    lines = [Curve(np.array([0.0, 1.0]), np.array([0.0, 1.0]), "line"), Curve(np.array([0.5]), np.array([1.0]), "line")]
    np.testing.assert_allclose(Curve.mean(lines)([0.0, 0.5, 1.0]), [0.5, 0.75, 1.0])


def test_ece_stays_wrong_where_errors_cancel_inside_bins():
    # Each bin of width 1/15 is half over- and half underconfident by 0.03.
    scores = (np.arange(150_000) + 0.5) / 150_000
    sign = np.where(np.floor(scores * 30) % 2 == 0, 1, -1)
    eta = np.clip(scores + 0.03 * sign, 0, 1)
    labels = np.random.default_rng(0).random(scores.size) < eta
    truth = np.abs(scores - eta).mean()
    assert truth > 0.028
    assert published.ece(scores, labels).value < truth / 3


def test_kernels_equal_their_python_source():
    scores, labels = data(400)
    for edges in (np.arange(15) / 15, np.array([0.1, 0.11, 0.9])):
        for a, b in zip(
            windows.binned(scores, labels, edges), as_python(windows.binned)(scores, labels, edges), strict=True
        ):
            np.testing.assert_array_equal(a, b)
    fold = np.random.default_rng(1).integers(0, 3, 400).astype(np.uint8)
    position = np.array([0, 10, 10, 250, 400])
    trained, plain = np.zeros((3, 2, 5), np.int64), np.zeros((3, 2, 5), np.int64)
    strings.count_before_cells(labels, fold, position, trained)
    as_python(strings.count_before_cells)(labels, fold, position, plain)
    np.testing.assert_array_equal(trained, plain)
    joined = np.array([0, 1, 1, 1], np.int32), np.array([0, 1, 4]), np.array([0.3, 0.7])
    looked_up = [(np.empty(4), np.empty(4)) for _ in range(2)]
    for kernel, out in zip((strings.look_up, as_python(strings.look_up)), looked_up, strict=True):
        kernel(*joined, trained, 2.0, np.array([0, 1, 2, 0]), np.array([0, 1, 2, 3]), *out)
    np.testing.assert_array_equal(looked_up[0], looked_up[1])
