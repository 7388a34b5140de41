"""The linear program behind Theorem 6 on finitely many knots, by an interior point method.

Among pairs (g0, g1) of functions on the knots u, both changing by no more than the knots do and with
(1 - u) g0 + u g1 <= 0, it looks for the largest sum of mass * g. The multipliers of the last constraint are a plan: the
mass of a calibrated score at each knot. Nothing is asked of either but to be useful. A pair is made admissible and a
plan is paid for by those who use them, so that no bound rests on this file.

Newton's equations are those of two chains of springs, one for each label, that are tied to each other at every knot:
solved from left to right and back, at a cost that is proportional to the number of knots.
"""

from __future__ import annotations

import math

import numpy as np

from calcert.foundation.array_types import Floats

ROUNDS = 60
"""Of Newton's method; 5 to 25 are usual."""

SHORT = 0.995
"""The share of the way to the nearest wall that a step goes."""


def solve(knots: Floats, mass: Floats, enough: float) -> tuple[Floats, Floats, float]:
    """The pair, shape (2, knots), the plan, and the value of the pair; `mass` holds the rows' share per label and knot.

    `knots` go from 0 to 1. It stops once the plan costs less than `enough` more than the pair earns.

    The inequalities stand in one array: g rises too fast (label 0, then 1), falls too fast (likewise), the constraint
    that ties the labels, and two that keep a label without rows from running away: g0 >= -2 at 1, g1 >= -2 at 0.
    """
    size, tie = len(knots), 4 * (len(knots) - 1)
    every = tie + size + 2
    slack, force, share = np.empty(every), np.empty(every), np.empty(every)
    target, change, push = np.empty(every), np.empty(every), np.empty(every)
    pair, move, best_pair = np.empty((2, size)), np.empty((2, size)), np.empty((2, size))
    stiff, factors, best_plan = np.empty((2, size)), np.empty((4, size)), np.empty(size)
    rounds, short = ROUNDS, SHORT
    _begin(knots, mass, pair, slack, force)
    best_value, best_cost = -math.inf, math.inf
    for _ in range(rounds):
        mean = after = 0.0
        for i in range(every):
            share[i] = 1 / slack[i]
            mean += slack[i] * force[i]
            target[i] = 0.0
        _factor(knots, force, share, stiff, factors)
        far, deep = 0.0, 0.0
        for corrected in range(2):
            _newton(knots, mass, share, force, target, stiff, factors, move, change, push)
            far, deep = _room(slack, change), _room(force, push)
            if corrected == 0:
                far, deep = min(far, 1.0), min(deep, 1.0)
                for i in range(every):
                    after += (slack[i] + far * change[i]) * (force[i] + deep * push[i])
                kept = after / mean
                aim = kept * kept * kept * mean / every
                for i in range(every):
                    target[i] = aim - change[i] * push[i]
        far, deep = min(short * far, 1.0), min(short * deep, 1.0)
        for i in range(every):
            slack[i] += far * change[i]
            force[i] += deep * push[i]
        value = 0.0
        for y in range(2):
            for k in range(size):
                pair[y, k] += far * move[y, k]
                value += mass[y, k] * pair[y, k]
        cost = spent(knots, mass, force, tie)
        if not (math.isfinite(value) and math.isfinite(cost)):
            break
        if value > best_value:
            best_value = value
            for k in range(size):
                best_pair[0, k], best_pair[1, k] = pair[0, k], pair[1, k]
        if cost < best_cost:
            best_cost = cost
            for k in range(size):
                best_plan[k] = force[tie + k]
        if best_cost - best_value < enough:
            break
    if best_cost == math.inf:
        _begin(knots, mass, best_pair, slack, force)
        for k in range(size):
            best_plan[k] = force[tie + k]
    return np.asarray(best_pair), np.asarray(best_plan), best_value


def _begin(knots: Floats, mass: Floats, pair: Floats, slack: Floats, force: Floats) -> None:
    """A pair well inside all walls, and forces of about equal weight."""
    size, gaps = len(knots), len(knots) - 1
    level = 0.0
    for k in range(size):
        pair[0, k] = pair[1, k] = -0.05
        slack[4 * gaps + k] = 0.05
        force[4 * gaps + k] = mass[0, k] + mass[1, k] + 1.0 / size
        level += force[4 * gaps + k] * 0.05 / size
    for i in range(4 * gaps):
        slack[i] = knots[i % gaps + 1] - knots[i % gaps]
        force[i] = level / slack[i]
    for i in range(4 * gaps + size, len(slack)):
        slack[i] = 1.95
        force[i] = level / slack[i]


def spent(knots: Floats, mass: Floats, plan: Floats, start: int) -> float:
    """What the plan, in `plan` from `start` on, costs if the rows are at the knots (any plan is a bound)."""
    total = ones = zeros = 0.0
    last = len(knots) - 1
    for k in range(last):
        back = last - k
        ones += mass[1, k] - knots[k] * plan[start + k]
        zeros += mass[0, back] - (1 - knots[back]) * plan[start + back]
        total += (knots[k + 1] - knots[k]) * abs(ones) + (knots[back] - knots[back - 1]) * abs(zeros)
    return total


def _room(value: Floats, change: Floats) -> float:
    """How many times `change` may be added before the first value is 0."""
    steepest = 1e-300
    for i in range(len(value)):
        if -change[i] > steepest * value[i]:
            steepest = -change[i] / value[i]
    return 1 / steepest


def _factor(knots: Floats, force: Floats, share: Floats, stiff: Floats, factors: Floats) -> None:
    """Eliminate knot after knot: the symmetric matrix [[a, b], [b, c]] left at each, and 1 over its determinant.

    Fills `stiff`, how stiff the links of the two chains are, and `factors`. What a chain to the left resists with,
    [[a, b], [b, c]] with determinant `rest`, is in series with its next link. Written so, only positive numbers are
    added, and links a billion times as stiff as others do no harm.
    """
    gaps = len(knots) - 1
    tie, box = 4 * gaps, 4 * gaps + len(knots)
    a = b = rest = 0.0
    c = force[box + 1] * share[box + 1]
    for k in range(gaps + 1):
        zero, one, tied = 1 - knots[k], knots[k], force[tie + k] * share[tie + k]
        rest += max(tied * (zero * zero * c + one * one * a - 2 * zero * one * b), 0.0)
        a += tied * zero * zero
        b += tied * zero * one
        c += tied * one * one
        if k < gaps:
            s = force[k] * share[k] + force[2 * gaps + k] * share[2 * gaps + k]
            t = force[gaps + k] * share[gaps + k] + force[3 * gaps + k] * share[3 * gaps + k]
            stiff[0, k], stiff[1, k] = s, t
            inverse = 1 / (s * t + s * c + t * a + rest)
            factors[0, k], factors[1, k], factors[2, k], factors[3, k] = s + a, b, t + c, inverse
            a, c = s * (a * t + rest) * inverse, t * (c * s + rest) * inverse
            b *= s * t * inverse
            rest *= s * t * inverse
    held = force[box] * share[box]
    factors[0, gaps], factors[1, gaps], factors[2, gaps], factors[3, gaps] = a + held, b, c, 1 / (rest + held * c)


def _newton(
    knots: Floats,
    mass: Floats,
    share: Floats,
    force: Floats,
    target: Floats,
    stiff: Floats,
    factors: Floats,
    move: Floats,
    change: Floats,
    push: Floats,
) -> None:
    """The step after which, to first order, slack * force = target and the forces balance the masses.

    `share` is 1 / slack. Fills `move` (of the pair), `change` (of the slacks) and `push` (of the forces).
    """
    size, gaps = len(knots), len(knots) - 1
    tie, box = 4 * gaps, 4 * gaps + size
    for i in range(len(target)):
        push[i] = target[i] * share[i]
    zero = one = 0.0
    for k in range(size):
        pull = push[tie + k]
        zero += mass[0, k] - (1 - knots[k]) * pull
        one += mass[1, k] - knots[k] * pull
        if k == 0:
            one += push[box + 1]
        if k == gaps:
            zero += push[box]
        else:
            left, right = push[k] - push[2 * gaps + k], push[gaps + k] - push[3 * gaps + k]
            zero += left
            one += right
        move[0, k], move[1, k] = zero, one
        if k < gaps:
            a, b, c, inverse = factors[0, k], factors[1, k], factors[2, k], factors[3, k]
            zero, one = (
                stiff[0, k] * inverse * (c * zero - b * one) - left,
                stiff[1, k] * inverse * (a * one - b * zero) - right,
            )
    zero = one = 0.0
    for k in range(gaps, -1, -1):
        if k < gaps:
            zero *= stiff[0, k]
            one *= stiff[1, k]
        zero += move[0, k]
        one += move[1, k]
        a, b, c, inverse = factors[0, k], factors[1, k], factors[2, k], factors[3, k]
        zero, one = inverse * (c * zero - b * one), inverse * (a * one - b * zero)
        move[0, k], move[1, k] = zero, one
    for y in range(2):
        for k in range(gaps):
            rise = move[y, k + 1] - move[y, k]
            change[y * gaps + k] = -rise
            change[(y + 2) * gaps + k] = rise
    for k in range(size):
        change[tie + k] = -(1 - knots[k]) * move[0, k] - knots[k] * move[1, k]
    change[box] = move[0, gaps]
    change[box + 1] = move[1, 0]
    for i in range(len(target)):
        push[i] -= force[i] * (1 + change[i] * share[i])
