"""Many classes: the prediction, each class against the rest, and their mean."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import multinomial

import calcert
from calcert.certificates.certificate import Certificate
from calcert.certificates.cutoff import Excess, largest_sum
from calcert.certificates.cutoff import upper_terms as cutoff_terms
from calcert.certificates.perturbed import upper_terms
from calcert.certificates.several import mean_as_it_is, mean_of, mean_perturbed, mean_squares
from calcert.foundation.number_text import at_most, short_at_most
from calcert.perturbation.noise import Noise
from calcert.perturbation.sech_kernel import density
from calcert.reports.classes import ClassReport
from tests.lab.distributions import Law, summary_of, too_many
from tests.lab.sums import range_truth
from tests.shared_data import real_data

BANDWIDTH, DELTA = 1 / 4, 0.1


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    p = rng.dirichlet([2.0, 1.0, 0.5, 0.02], 8_000)
    y = np.minimum((rng.random((8_000, 1)) > p.cumsum(axis=1)).sum(axis=1), 2)
    sharper = p**1.4
    return sharper / sharper.sum(axis=1, keepdims=True), y


@pytest.fixture(scope="module")
def report(rows: tuple[np.ndarray, np.ndarray]) -> ClassReport:
    found = calcert.certify(*rows, settings=calcert.Settings(odds=1 / 16))
    assert isinstance(found, ClassReport)
    return found


def test_the_prediction_is_certified_as_a_binary_classifier(
    report: ClassReport, rows: tuple[np.ndarray, np.ndarray]
) -> None:
    p, y = rows
    binary = calcert.certify(p.max(axis=1), p.argmax(axis=1) == y, settings=calcert.Settings(odds=1 / 16))
    assert report.certificates == binary.certificates
    assert report.estimates == binary.estimates


def test_each_class_is_certified_at_delta_over_the_number_of_classes(
    report: ClassReport, rows: tuple[np.ndarray, np.ndarray]
) -> None:
    p, y = rows
    assert list(report.classes) == ["0", "1", "2", "3"]
    for number, entry in enumerate(report.classes.values()):
        alone = calcert.certify(p[:, number], y == number, settings=calcert.Settings(odds=1 / 16).shared(4))
        assert entry == alone
        assert entry.direction == alone.direction
        assert entry.observed_over_expected == alone.observed_over_expected
        assert report.size(str(number)) == (y == number).sum()


def test_a_class_without_rows_is_certified_like_the_others(report: ClassReport) -> None:
    assert report.size("3") == 0
    assert report.classes["3"].l1.upper < 0.05


def test_the_mean_is_inside_what_the_classes_say_and_sharper(report: ClassReport) -> None:
    for name, mean in report.mean.items():
        classes = [entry.certificates[name] for entry in report.classes.values()]
        assert mean.lower == pytest.approx(np.mean([c.lower for c in classes]))
        assert mean.upper == pytest.approx(sum(mean.terms.values()))
        assert mean.upper <= np.mean([c.upper for c in classes]) + 1e-12
        assert mean.upper < 0.98 * np.mean([c.upper for c in classes])


def test_no_class_is_worse_than_the_largest_bound_at_full_delta(
    report: ClassReport, rows: tuple[np.ndarray, np.ndarray]
) -> None:
    p, y = rows
    settings = calcert.Settings(odds=1 / 16)
    alone = [calcert.certify(p[:, number], y == number, settings=settings) for number in range(4)]
    for name, worst in report.worst.items():
        assert worst.upper == max(found.statement(name).upper for found in alone)
        assert worst.lower == max(entry.statement(name).lower for entry in report.classes.values())
        assert worst.upper < max(entry.statement(name).upper for entry in report.classes.values())
    most = short_at_most(report.worst["perturbed"].upper)
    assert f"No class has a larger L1 calibration error than {most}" in " ".join(str(report).split())


def test_the_report_survives_json(report: ClassReport) -> None:
    assert ClassReport.from_dict(json.loads(json.dumps(report.to_dict()))) == report


def test_text_and_picture_list_the_classes_worst_first(report: ClassReport) -> None:
    text = str(report)
    assert "Each of 4 classes against the rest" in text
    assert f"{at_most(report.mean['perturbed'].upper)}" in text
    pytest.importorskip("matplotlib")
    (axes,) = report.plot_classes().axes
    names = [label.get_text().split(" (")[0] for label in axes.get_yticklabels()]
    assert names == report.worst_first()


def test_the_first_of_tied_classes_is_the_prediction() -> None:
    p = np.full((300, 3), 1 / 3)
    y = np.repeat([0, 1, 2], 100)
    assert calcert.certify(p, y).estimates["base rate"] == pytest.approx(1 / 3)
    assert calcert.certify(p, np.zeros(300)).estimates["base rate"] == 1.0


CHANCES, SCORE, ROWS = np.array([0.85, 0.1, 0.05]), np.array([0.5, 0.3, 0.2]), 40


@cache
def one_class(number: int, positives: int, n: int = ROWS) -> Certificate:
    rows = calcert.summarize(np.full(n, SCORE[number]), np.arange(n) < positives)
    terms = upper_terms(rows, Noise("additive", BANDWIDTH), DELTA)
    return Certificate("error", "served", "none", 1.0, 0.0, DELTA, n, "Theorem 1", terms)


@cache
def mean_bound(counts: tuple[int, int, int]) -> tuple[float, float]:
    n = sum(counts)
    certificates = [one_class(number, count, n) for number, count in enumerate(counts)]
    y = np.repeat(np.arange(3), counts)
    squares = mean_squares(np.tile(SCORE, (n, 1)), y, Noise("additive", BANDWIDTH))
    found = mean_perturbed(squares, certificates, DELTA)
    return found.upper, found.terms["sampling"]


@cache
def true_mean() -> float:
    """The mean over three classes of the served errors."""

    def error(number: int) -> float:
        def integrand(t: float) -> float:
            kernel = density(np.array([t]), np.array([SCORE[number]]), BANDWIDTH)
            return abs(t - CHANCES[number]) * float(kernel[0])

        return float(quad(integrand, 0, 1, points=[CHANCES[number]])[0])

    return float(np.mean([error(number) for number in range(3)]))


def missed(shrink: float) -> float:
    """The exact probability that the bound on the mean over three classes is below the truth, over all outcomes."""
    truth = true_mean()
    outcomes = [(a, b, ROWS - a - b) for a in range(ROWS + 1) for b in range(ROWS + 1 - a)]
    law = multinomial.pmf(outcomes, ROWS, CHANCES)
    below = [upper - shrink * sampling < truth - 1e-9 for upper, sampling in map(mean_bound, outcomes)]
    return float(law[below].sum())


def test_the_mean_bound_covers_over_all_outcomes() -> None:
    assert missed(shrink=0.0) <= DELTA


def test_negative_control_the_mean_bound_without_its_sampling_term_is_caught() -> None:
    assert missed(shrink=1.0) > DELTA


def test_the_mean_bound_covers_thousands_of_larger_data_sets() -> None:
    drawn = np.random.default_rng(0).multinomial(100, CHANCES, 4000).tolist()
    misses = sum(mean_bound(tuple(counts))[0] < true_mean() - 1e-9 for counts in drawn)
    assert not too_many(misses, len(drawn), DELTA)


@cache
def one_class_as_it_is(number: int, positives: int) -> Certificate:
    rows = calcert.summarize(np.full(ROWS, SCORE[number]), np.arange(ROWS) < positives)
    return Certificate(
        "miscount", "with its current scores", "none", 1.0, 0.0, DELTA, ROWS, "Theorem 9", cutoff_terms(rows, DELTA)
    )


def missed_as_it_is(shrink: float) -> float:
    """The same for the mean over classes of what a range shows, of the current scores."""
    truth = np.mean(np.abs(SCORE - CHANCES))
    total = 0.0
    for counts in ((a, b, ROWS - a - b) for a in range(ROWS + 1) for b in range(ROWS + 1 - a)):
        certificates = [one_class_as_it_is(number, count) for number, count in enumerate(counts)]
        squares = mean_squares(np.tile(SCORE, (ROWS, 1)), np.repeat(np.arange(3), counts))
        found = mean_as_it_is(squares, certificates, DELTA)
        below = found.upper - shrink * found.terms["sampling"] < truth - 1e-9
        total += float(multinomial.pmf(counts, ROWS, CHANCES)) if below else 0.0
    return total


def test_the_mean_bound_as_it_is_covers_over_all_outcomes() -> None:
    assert missed_as_it_is(shrink=0.0) <= DELTA


def test_negative_control_the_mean_bound_as_it_is_without_its_sampling_term_is_caught() -> None:
    assert missed_as_it_is(shrink=1.0) > DELTA


VECTORS = np.array([[0.7, 0.2, 0.1], [0.2, 0.3, 0.5], [0.4, 0.4, 0.2]])
SHARES, TRUE_CHANCES = np.array([0.5, 0.2, 0.3]), np.array([[0.4, 0.4, 0.2], [0.1, 0.5, 0.4], [0.2, 0.6, 0.2]])
"""Three vectors of scores, how frequent they are, and the chances of the classes where they are given."""


def test_the_mean_bound_as_it_is_covers_thousands_of_data_sets_with_several_scores() -> None:
    """What ranges show of each class, all scores of a row at once: 4,000 data sets, two sizes."""
    orders, rng = [np.argsort(VECTORS[:, k]) for k in range(3)], np.random.default_rng(0)
    laws = [
        Law(*(tuple(part[order].tolist()) for part in (VECTORS[:, k], SHARES, TRUE_CHANCES[:, k])))
        for k, order in enumerate(orders)
    ]
    truth = np.mean([range_truth(law) for law in laws])
    for n in (20, 2000):
        misses = 0
        for counts in rng.multinomial(n, (SHARES[:, None] * TRUE_CHANCES).ravel(), 2000).reshape(-1, 3, 3):
            each = []
            for k, order in enumerate(orders):
                labels = np.stack([counts.sum(axis=1) - counts[:, k], counts[:, k]], axis=1)[order]
                rows = summary_of(tuple(VECTORS[order, k]), labels)
                seen = {"plug-in": largest_sum(Excess.of(rows)), "discretisation": 1e-9}
                each.append(
                    Certificate("miscount", "with its current scores", "none", 1.0, 0.0, DELTA, n, "Theorem 9", seen)
                )
            p, y = np.repeat(VECTORS, counts.sum(axis=1), axis=0), np.repeat(np.tile(np.arange(3), 3), counts.ravel())
            misses += bool(mean_as_it_is(mean_squares(p, y), each, DELTA).upper < truth - 1e-9)
        assert not too_many(misses, 2000, DELTA)


def test_the_mean_of_certificates_adds_up() -> None:
    mean = mean_of([one_class(0, 5), one_class(1, 9)], DELTA)
    assert mean.upper == pytest.approx(sum(mean.terms.values()))


def test_the_mean_names_the_theorem_that_assumes_something() -> None:
    rng = np.random.default_rng(0)
    spread = rng.random(2000)
    every = [calcert.bounds.finite(calcert.summarize([0.5, 0.75] * 1000, [0, 1] * 1000))]
    every.append(calcert.bounds.bounded_variation(calcert.summarize(spread, rng.random(2000) < spread)))
    mean = mean_of(every, 0.1)
    assert (mean.theorem, mean.assumption) == ("Theorem 2", every[1].assumption)
    assert mean_of(every[:1] * 2, 0.1).theorem == "Theorem 4"


def test_torch_tensors_are_probabilities_too() -> None:
    torch = pytest.importorskip("torch")
    found = calcert.Rows(torch.full((4, 5), 0.2), torch.arange(4)).by_class({})
    assert [found.of_class(number).positives for number in range(5)] == [1, 1, 1, 1, 0]


def test_bad_probabilities_are_refused_in_words() -> None:
    p, y = np.full((5, 4), 0.25), np.arange(5) % 4
    for bad, labels, words in (
        (p * 0.9, y, "must add up to 1 in every row, within 0.001; got 0.9 at row 0. For logits"),
        (p - 0.5, y, r"must lie in \[0, 1\]; got -0\.25 at row 0, column 0\. For logits pass scipy\.special\.softmax"),
        (np.where(np.eye(5, 4, 1)[::-1], np.nan, p), y, "got nan at row 2, column 3"),
        (p[:0], y[:0], "at least one row"),
        (p, y + 2, "whole numbers from 0 to 3, the columns of probabilities; got 4 at row 2"),
        (p, y + 0.5, "whole numbers from 0 to 3"),
        (p, y[:3], "one number a row; got shape"),
        (p, p, "For one-hot labels"),
        (p, np.array(list("abcde")), "For names pass class_names"),
        (p, np.array(list("abcde"), object), "got 'a' at row 0. For names pass class_names"),
    ):
        with pytest.raises(ValueError, match=words):
            calcert.certify(bad, labels)
    with pytest.raises(TypeError, match="labels must be given"):
        calcert.certify(p)


def test_labels_that_begin_with_1_are_remarked_on_or_told_the_way_out() -> None:
    p = np.tile([0.25, 0.25, 0.5], (400, 1))
    (words,) = calcert.certify(p, np.arange(400) % 2 + 1).warnings
    assert "no row is of the first class, 0, of which probabilities expect about 100" in words
    assert calcert.certify(p, np.arange(400) % 3).warnings == ()
    assert calcert.certify(p[:60], np.full(60, 1)).warnings == (), "15 rows may be missing by chance"
    assert calcert.certify(calcert.Rows(p, np.arange(400) % 3 + 1, class_names=["1", "2", "3"])).warnings == ()
    with pytest.raises(
        ValueError, match=r"got 3 at row 2\. For labels from 1 to 3 subtract 1, or name the classes 1 to 3"
    ):
        calcert.certify(p, np.arange(400) % 3 + 1)
    with pytest.raises(ValueError, match=r"got '3' at row 2\. For labels from 1 to 3 subtract 1, or name"):
        calcert.certify(calcert.Rows(p, (np.arange(400) % 3 + 1).astype(str), class_names=["a", "b", "c"]))


def test_two_columns_are_left_to_the_binary_path() -> None:
    assert calcert.certify(np.full((5, 2), 0.5), np.zeros(5)) == calcert.certify(np.full(5, 0.5), np.zeros(5))


def test_imagenet_networks_are_overconfident_or_not_for_certain() -> None:
    rows = real_data("pairs_imagenet_top1_models")
    chosen = ["torchvision/resnet101", "torchvision/inception_v3", "pytorch-image-models/efficientnet_b1"]
    rows = rows[rows["model"].isin(chosen)]
    report = calcert.certify(rows["score"], rows["label"], groups=rows["model"].astype(str))
    assert {group.l1.n for group in report.groups.values()} == {50_000}
    for group in report.groups.values():
        assert 0 < group.l1.lower < group.l1.upper < 0.2
    a, b = (rows[rows["model"] == name] for name in chosen[:2])
    verdict = calcert.compare({name: calcert.Rows(one["score"], one["label"]) for name, one in (("a", a), ("b", b))})
    assert verdict.l1.best == "b"


def test_names_of_columns_are_refused_where_there_are_none() -> None:
    p = np.full((10, 3), 1 / 3)
    with pytest.raises(TypeError, match=r"score and label must name columns of a table; got ndarray, which has none"):
        calcert.certify(p, np.zeros(10, int), score="p")
