"""The kernels on PyTorch tensors, for prediction and for training.

Additive noise is computed in angle, where the perturbed score is uniform (:mod:`calcert.perturbation.sech_kernel`). For
a row with score x whose kernel loses the angles `below` and `above` to the ends of [0, 1], so that a = pi - below -
above is left, and for u uniform on (0, 1), the perturbed score is

    s = h log1p( sin(u a/2) / (sin(below/2) sin((above + (1 - u) a)/2)) ),    sin(below/2) = 1/sqrt(1 + exp(2x/h)).

No term cancels, so that scores next to 0 keep their relative precision, and log s its absolute one, in float32 too.
Noise on the odds is addition to the logit (:mod:`calcert.perturbation.odds_kernel`).
"""

from __future__ import annotations

import math
import secrets
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import softplus

NODES = 24
"""Quadrature nodes a logit: errors below 1e-7 in the loss and 1e-6 in its slope, for bandwidths from 2^-10 to 1."""

PAIRS_AT_ONCE = 1 << 22
"""The margin term looks at this many pairs of rows at a time, whatever the size of the batch."""


def uniform(like: Tensor, generator: torch.Generator | None) -> Tensor:
    """Numbers in [0, 1) of this shape: from the generator, or fresh."""
    if generator is None:
        return torch.ops.calcert.fresh_uniform(like.detach())  # type: ignore[no-any-return]
    return torch.rand(like.shape, generator=generator, dtype=like.dtype, device=like.device)


torch.library.define("calcert::fresh_uniform", "(Tensor like) -> Tensor", tags=(torch.Tag.nondeterministic_seeded,))


@torch.library.impl("calcert::fresh_uniform", "default")
def _fresh_uniform(like: Tensor) -> Tensor:
    """Numbers in [0, 1) of this shape, from a seed that nobody else has.

    An operator of its own, so that compiled graphs call it instead of PyTorch's generator, which forks share. On the
    CPU that generator would use 32 bits of a seed only: one call in four billion would repeat another's noise.
    """
    if like.device.type == "cpu":
        return torch.from_numpy(np.random.default_rng().random(like.shape)).to(like.dtype)
    generator = torch.Generator(like.device).manual_seed(secrets.randbits(63))
    return torch.rand(like.shape, generator=generator, dtype=like.dtype, device=like.device)


@torch.library.register_fake("calcert::fresh_uniform")  # type: ignore[untyped-decorator]
def _(like: Tensor) -> Tensor:
    return torch.empty_like(like, memory_format=torch.contiguous_format)


def log_factor(u: Tensor) -> Tensor:
    """N = ln tan(pi u/2), measured from the nearer end of (0, 1); finite for all u in [0, 1]."""
    near = torch.minimum(u, 1 - u).clamp_min(2.0**-54 if u.dtype == torch.float64 else 2.0**-25)
    return torch.copysign(torch.log(torch.tan(math.pi / 2 * near)), u - 0.5)


def inside(drawn: Tensor, x: Tensor, dtype: torch.dtype) -> Tensor:
    """What was drawn for x, between what `dtype` has next to 0 and 1, which are for scores 0 and 1 alone (O5)."""
    limits = torch.finfo(dtype)
    kept = torch.clamp(drawn, x.clamp_max(limits.tiny), x.clamp_min(1 - limits.eps / 2))
    return drawn + (kept - drawn).detach()  # The slope is that of what was drawn.


def _gauss() -> tuple[list[float], list[float]]:
    """Gauss nodes and weights for the density sech(u)/pi of N: the recurrence of its polynomials is n^2/4."""
    beside = np.arange(1, NODES) / 2
    at, vectors = np.linalg.eigh(np.diag(beside, 1) + np.diag(beside, -1))
    return (math.pi * at).tolist(), (vectors[0] ** 2).tolist()


_GAUSS = _gauss()


def expected_softplus(logits: Tensor, b: Tensor) -> Tensor:
    """E softplus(z + b N), to 1e-9 for b up to 1/4 and to 1e-6 for b up to 1/2; so is its slope, E sigmoid(z + b N)."""
    node, weight = torch.tensor(_GAUSS, dtype=logits.dtype, device=logits.device).unbind()
    return softplus(logits[..., None] + b * node) @ weight


def perturbed_score(x: Tensor, rest: Tensor, u: Tensor, u_rest: Tensor, h: Tensor | float) -> tuple[Tensor, Tensor]:
    """(s/h, (1 - T)/2) for the quantile s at u = 1 - u_rest of the kernel around x = 1 - rest; T = tanh((s - x)/h)."""
    above, decay = 2 * torch.atan(torch.exp(-rest / h)), torch.exp(-x / h)
    half = math.pi / 2 - torch.atan(decay) - above / 2
    # 1/sin(below/2) overflows for scores far from 0; beyond 60 bandwidths log1p is log and the excess can be added.
    near = (x / h).clamp(max=60.0)
    sine = torch.sin(above / 2 + half * u_rest)
    odds = torch.sin(half * u) / sine * (torch.exp(near) * torch.sqrt(1 + decay * decay))
    return (x / h - near) + torch.log1p(odds), sine * sine


def _quadrature() -> tuple[list[float], list[float], list[float]]:
    """Nodes on (0, 1), their distances from 1, and weights: Gauss-Legendre, graded towards both ends.

    log s has logarithmic singularities at the ends of the angle. The substitution by the polynomial of degree 7 that
    is flat to third order at 0 and 1 makes them harmless.
    """
    w, weight = np.polynomial.legendre.leggauss(NODES)
    w, weight = (w + 1) / 2, weight / 2
    step = w**4 * (35 - 84 * w + 70 * w**2 - 20 * w**3)
    return step.tolist(), step[::-1].tolist(), (weight * 140 * (w * (1 - w)) ** 3).tolist()


_QUADRATURE = _quadrature()


class _ExpectedLog(torch.autograd.Function):
    """E log s, s the perturbed score of a logit, and its slope in the logit.

    With T = tanh((s - x)/h), the sine of the angle, d/dx log k(s|x) = (T - E T)/h, so that the slope in x is
    cov(log s, T)/h: the same nodes serve both, and the backward pass has nothing left to compute.
    """

    @staticmethod
    def forward(logits: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
        u, u_rest, weight = torch.tensor(_QUADRATURE, dtype=logits.dtype, device=logits.device).unbind()
        x, rest = torch.sigmoid(logits)[..., None], torch.sigmoid(-logits)[..., None]
        multiple, turn = perturbed_score(x, rest, u, u_rest, h)
        log_multiple = torch.log(multiple)
        value = log_multiple @ weight
        # Both factors are centred, so that rounding is relative to their spread and not to their size.
        slope = ((log_multiple - value[..., None]) * (turn - (turn @ weight)[..., None])) @ weight
        return value + torch.log(h), slope * (x * rest)[..., 0] * (-2 / h)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: tuple[Tensor, Tensor]) -> None:
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(*inputs, output[1])

    @staticmethod
    def backward(ctx: Any, grad: Tensor, _: Tensor) -> tuple[Tensor, None]:
        logits, h, slope = ctx.saved_tensors
        if torch.is_grad_enabled():  # Somebody wants second derivatives: those of the slope, as computed above.
            slope = _ExpectedLog.forward(logits, h)[1]
        return grad * slope, None


class _Margin(torch.autograd.Function):
    """The mean of softplus(2h - (z_i - z_j)) over near pairs inside a column, and its slope; 0 without such pairs.

    A pair counts y_i (1 - y_j): 1 for a row of label 1 and one of label 0, and in proportion for soft labels. Which
    pairs are near is taken as given, as published.
    """

    @staticmethod
    def forward(logits: Tensor, labels: Tensor, places: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
        z = logits.reshape(logits.shape[0] if logits.ndim else 1, math.prod(logits.shape[1:]))
        y, x = labels.reshape(z.shape), places.reshape(z.shape)
        ones = zeros = torch.arange(len(z), device=z.device)
        if may_look_at(z):
            ones, zeros = (y > 0).any(1).nonzero()[:, 0], (y < 1).any(1).nonzero()[:, 0]
        total, pairs, slope = z.new_zeros(()), z.new_zeros(()), torch.zeros_like(z)
        at_once = max(PAIRS_AT_ONCE // max(len(zeros) * z.shape[1], 1), 1)
        for part in ones.split(at_once):  # type: ignore[no-untyped-call]
            counts = y[part, None] * (1 - y[zeros]) * ((x[part, None] - x[zeros]).abs() < 2 * h)
            gap = 2 * h - (z[part, None] - z[zeros])
            small = torch.exp(-gap.abs())
            push = counts * torch.where(gap > 0, 1.0, small) / (1 + small)
            total = total + (counts * (gap.clamp_min(0.0) + torch.log1p(small))).sum()
            pairs = pairs + counts.sum()
            slope = slope.index_add(0, zeros, push.sum(0)).index_add(0, part, -push.sum(1))
        pairs = pairs.clamp_min(torch.finfo(z.dtype).tiny)
        return total / pairs, (slope / pairs).reshape(logits.shape)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, Tensor, Tensor], output: tuple[Tensor, Tensor]) -> None:
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(*inputs, output[1])

    @staticmethod
    def backward(ctx: Any, grad: Tensor, _: Tensor) -> tuple[Tensor, None, None, None]:
        *inputs, slope = ctx.saved_tensors
        if torch.is_grad_enabled():
            slope = _Margin.forward(*inputs)[1]
        return grad * slope, None, None, None


def expected_log(logits: Tensor, h: Tensor) -> Tensor:
    """E log s of the perturbed score s of a logit."""
    value: Tensor = _ExpectedLog.apply(logits, h)[0]  # type: ignore[no-untyped-call]
    return value


def margin(logits: Tensor, labels: Tensor, places: Tensor, h: Tensor) -> Tensor:
    """The mean over near pairs, those whose `places` are less than 2h apart."""
    value: Tensor = _Margin.apply(logits, labels, places, h)[0]  # type: ignore[no-untyped-call]
    return value


def may_look_at(values: Tensor) -> bool:
    """Whether deciding by the values neither breaks a compiled graph nor waits for a device."""
    return not torch.compiler.is_compiling() and values.device.type == "cpu"
