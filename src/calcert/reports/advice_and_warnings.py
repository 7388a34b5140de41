"""What a report warns of, and what to do where rows do not suffice, in plain words."""

from __future__ import annotations

import math
from collections.abc import Mapping

from calcert.certificates.certificate import Certificate
from calcert.certificates.too_good_to_be_true import is_too_good
from calcert.foundation.number_text import at_least, at_most, confidence, given, percent, percent_sure
from calcert.perturbation.noise import Noise
from calcert.reports.estimates import auroc, design_effect
from calcert.reports.settings import Settings
from calcert.reports.statements import judged_by, not_proved, statements_of
from calcert.summary.summary import Summary

LARGE_SHARE = 0.01
"""A cluster with more of the weight than this is warned of, if it also weighs :data:`HEAVY` times the average one."""

HEAVY = 3
"""A cluster of so many times the average weight is heavy: lighter ones are as large as their like, not an exception."""

BACKWARDS = 5
"""So many standard deviations below 1/2 an AUROC is no coincidence."""

NEARLY = 0.8
"""Bounds whose lower one is so large a share of the upper one nearly meet."""

EXPECTED = 50
"""Where so many rows of a label are expected and none is there, labels were probably not read as meant."""

RARE = 8
"""A bandwidth is called large when the rarer outcome's mean probability is less than this many bandwidths."""


TOO_GOOD = (
    "these rows agree with the scores better than fresh rows can: under calibration with a probability below one in a "
    "million. Were the scores fitted on these rows, by isotonic regression or bins? Then the bounds do not hold. Fit "
    "on other rows than you certify; calcert.recalibrate does. Rows that depend on each other look like that too, such "
    "as mirrored pairs, or all classes of a row in one column."
)
"""What is said of rows that are too good to be true."""


def what_now(c: Certificate, target: float, summary: Summary | None = None) -> str:
    """What to do about a bound above a target where more rows cannot help; nothing where they may."""
    if summary is not None and (decided := decisions(summary)):
        return f"{decided[0][:1].upper()}{decided[0][1:]}"
    if c.lower <= target:
        return ""
    known = f"It is at least {at_least(c.lower)}, with the same probability"
    return f"{known}: more rows cannot help. Recalibrate the classifier."


def nearly_meeting(c: Certificate) -> str:
    """That recalibrating would lower the upper bound by more than rows can; nothing where rows may do as much."""
    if not c.telling or c.lower < NEARLY * c.upper:
        return ""
    # The truth is above the lower bound, so that is all that rows can gain.
    gap = at_most(c.upper - c.lower)
    return f"The bounds nearly meet: more rows can lower the upper one by at most {gap}, recalibrating by more."


def warnings_of(summary: Summary, certificates: Mapping[str, Certificate], settings: Settings) -> tuple[str, ...]:
    """What looks wrong, in plain words."""
    refuted = [c for c in certificates.values() if c.assumption != "none" and c.lower >= c.upper]
    missing = {name: why for name, why in not_proved(summary, settings).items() if name in statements_of(settings)}
    left_out = (f"{name} is left out: {why}" for name, why in missing.items())
    return (
        *too_good(summary),
        *decisions(summary),
        *_one_label(summary),
        *_backwards(summary),
        *_passed_by_constant(summary, settings.tolerance),
        *(_rare_events(summary, settings.noise) if settings.asks_for_noise else ()),
        *map(_contradiction, refuted),
        *_other_statements(certificates, settings),
        *left_out,
        *_heavy_cluster(summary),
    )


def too_good(*summaries: Summary) -> list[str]:
    """A warning where rows agree with the scores better than fresh ones can: the scores were fitted on them."""
    return [TOO_GOOD] if any(map(is_too_good, summaries)) else []


def decisions(summary: Summary) -> list[str]:
    """A warning where scores look like what a classifier decided, and not like what it deemed likely."""
    if not summary.is_finite or summary.n < 2 or summary.values.size > 2 or not {0.0, 1.0}.issuperset(summary.values):
        return []
    return [
        "every score is 0 or 1, as if classes were predicted: the bounds are about these. For probabilities take what "
        "predict_proba returns."
    ]


def ranks_backwards(summary: Summary) -> bool:
    """True where rows of label 0 outscore those of label 1, by far more than noise would have it."""
    ranked = auroc(summary)
    if not ranked < 0.5:
        return False
    tied, base = summary.points.count.sum(axis=1) / summary.n, summary.base_rate
    spread = 12 * base * (1 - base) / max(1 - float((tied**3).sum()), 1e-300)
    # The variance of Mann and Whitney's statistic where ranks say nothing, with ties; rows count as independent ones.
    return (0.5 - ranked) * math.sqrt(spread * summary.rows / design_effect(summary)) > BACKWARDS


def _one_label(summary: Summary) -> list[str]:
    """A warning where all labels are the same though the scores expect others."""
    if 0 < summary.base_rate < 1:
        return []
    only = round(summary.base_rate)
    expected = summary.rows * abs(only - summary.mean_score)
    if expected < EXPECTED:
        return []
    return [
        f"every label is {only}, where the scores expect {expected:,.0f} of label {1 - only}. Is it the right column?"
    ]


def _other_statements(certificates: Mapping[str, Certificate], settings: Settings) -> list[str]:
    """A warning where the judged statement shows no error and others do: each has its own 5%."""
    judged = judged_by(certificates)
    others = [name for name, c in certificates.items() if name != "regret" and c.lower > 0]
    if settings.tolerance is not None or certificates[judged].lower > 0 or not others:
        return []
    which, sure = f"{' and '.join(others)} {'do' if others[1:] else 'does'}", percent_sure(certificates[judged].delta)
    return [
        f"the verdict rests on {judged}, which shows no error here; {which}, with {sure} confidence each. Label fresh "
        "rows to settle it."
    ]


def _backwards(summary: Summary) -> list[str]:
    if not ranks_backwards(summary):
        return []
    return [
        f"scores rank labels backwards (AUROC {auroc(summary):.2g}). Are they for another class, or is the label "
        "the other way round?"
    ]


def _passed_by_constant(summary: Summary, tolerance: float | None) -> list[str]:
    """A warning where a constant score is within the tolerance: its L1 error is the share of the rarer label."""
    rarer = min(summary.base_rate, 1 - summary.base_rate)
    if tolerance is None or not rarer <= tolerance:
        return []
    constant = 0 if summary.base_rate < 0.5 else 1
    return [
        f"the tolerance {given(tolerance)} is above the share of the rarer label, {rarer:.2g}: a model that always "
        f"says {constant} passes. Limit observed / expected instead (calcert check --max-ratio 1.25)."
    ]


def _heavy_cluster(summary: Summary) -> list[str]:
    """A warning where a single cluster has much of the weight."""
    clusters = summary.clusters
    if clusters is None or clusters.largest <= max(LARGE_SHARE, HEAVY / clusters.number) * summary.n:
        return []
    share = percent(float(f"{clusters.largest / summary.n:.2g}"))
    if clusters.design.clustered:
        return [
            f"one cluster holds {share} of the weight, which alone makes bounds wide: take fewer rows of each, or "
            "weight rows by 1 / size to certify the average cluster."
        ]
    return [f"one row holds {share} of the weight, which alone makes bounds wide."]


def _contradiction(refuted: Certificate) -> str:
    """A warning where a lower bound, which assumes nothing, has reached an upper bound that assumes something.

    Both are about the L1 error of the current scores: two bounds.
    """
    return (
        "the lower bound on the L1 calibration error has reached the upper one: with confidence "
        f"{confidence(round(2 * refuted.delta, 15))} the assumption is false ({refuted.assumption}), "
        "unless rows are not independent, as copies are not. The statements in_the_large, cutoff and distance "
        "assume nothing of the curve."
    )


def _rare_events(summary: Summary, noise: Noise) -> list[str]:
    """A warning where additive noise is large next to the mean score of the rarer outcome."""
    rarer, bandwidth = min(summary.mean_score, 1 - summary.mean_score), noise.size
    if noise.kind == "odds" or rarer <= 0 or bandwidth * RARE <= rarer:
        return []
    better = 2.0 ** math.floor(math.log2(rarer / RARE))
    return [
        f"bandwidth {bandwidth:g} is large next to the mean score of the rarer outcome, {rarer:.2g}: perturbing moves "
        f"such scores by about {min(1.17 * bandwidth, 0.5):.2g}. Use bandwidth 2**{round(math.log2(better))} = "
        f"{better:.2g} or less, in certify and in perturb; or odds=1/16, which fits every base rate."
    ]
