"""Perturbed scores in PyTorch: a loss that knows of the perturbation, and a module that perturbs for serving.

Everything is computed in angle, where the served score is uniform (:mod:`calcert.serving.kernel`). For a row with score
x whose kernel loses the angles `below` and `above` to the ends of [0, 1], so that a = pi - below - above is left, and
for u uniform on (0, 1), the served score is

    s = h log1p( sin(u a/2) / (sin(below/2) sin((above + (1 - u) a)/2)) ),    sin(below/2) = 1/sqrt(1 + exp(2x/h)).

No term cancels, so that scores next to 0 keep their relative precision, and log s its absolute one, in float32 too.
"""

from __future__ import annotations

import math
import secrets
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from calcert.foundation.validation import check_bandwidth

__all__ = ["Perturb", "PerturbedBCEWithLogitsLoss"]

NODES = 24
"""Quadrature nodes a logit: errors below 1e-7 in the loss and 1e-6 in its slope, for bandwidths from 2^-10 to 1."""

PAIRS_AT_ONCE = 1 << 22
"""The margin term looks at this many pairs of rows at a time, whatever the size of the batch."""


class PerturbedBCEWithLogitsLoss(nn.Module):
    """Binary cross-entropy of the score that will be served through a perturbation, and a margin between near pairs.

    The published loss (Ciosek et al., ICLR 2026): the mean over rows of -(y E log s + (1 - y) E log(1 - s)), s the
    perturbed score; plus, with `margin`, the mean of softplus(2h - (z_i - z_j)) over the pairs of a row i of label 1
    and a row j of label 0 of the batch whose scores are less than 2h apart, z the logits.

    Use it in place of ``torch.nn.BCEWithLogitsLoss``, with the bandwidth that serving will use. It is a way to
    train, not a condition for anything: certificates hold for every classifier, however it was trained.

    Expectations are exact to 1e-7 (Gauss-Legendre quadrature in angle, 24 nodes a logit), their gradients to 1e-6; in
    float32 to 1e-6 and 2e-5, and half precision is computed in float32. A row that is confidently wrong has nearly no
    gradient from the expectation, because what is served hardly depends on its logit; the margin term still moves it.

    Parameters
    ----------
    bandwidth
        h > 0, as in :func:`calcert.perturb`.
    margin
        Whether to add the margin term. Time grows with the square of the batch (pairs inside one column), memory does
        not: pairs are taken 4 million at a time and only a gradient for each row is kept.
    reduction
        "mean", "sum" or "none". The margin term, a number for the whole batch, is added to every row's loss.
    weight, pos_weight
        As in ``torch.nn.BCEWithLogitsLoss``; they scale the expectations and not the margin term.

    Examples
    --------
    >>> import torch
    >>> from calcert.torch import PerturbedBCEWithLogitsLoss
    >>> logits, labels = torch.tensor([2.0, -1.0, 0.1]), torch.tensor([1.0, 0.0, 0.0])
    >>> round(PerturbedBCEWithLogitsLoss(bandwidth=1/64)(logits, labels).item(), 4)
    0.3956
    """

    weight: Tensor | None
    pos_weight: Tensor | None

    def __init__(
        self,
        bandwidth: float = 1 / 64,
        margin: bool = True,
        *,
        reduction: str = "mean",
        weight: Tensor | None = None,
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__()
        if reduction not in ("mean", "sum", "none"):
            raise ValueError(f"reduction must be 'mean', 'sum' or 'none'; got {reduction!r}.")
        self.bandwidth = check_bandwidth(bandwidth)
        self.margin = bool(margin)
        self.reduction = reduction
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The loss of `logits` (rows first, any shape) for `labels` of the same shape in [0, 1]."""
        _check_labels(logits, labels)
        z = logits.to(_at_least_float32(logits.dtype))
        y = labels.to(z.dtype)
        ones = y if self.pos_weight is None else y * self.pos_weight
        # A tensor, because PyTorch's compiler cannot take a second bandwidth as a number into an autograd function.
        h = torch.full((), self.bandwidth, dtype=z.dtype, device=z.device)
        log_score, log_rest = _expected_log(torch.stack([z, -z]), h)
        loss: Tensor = -(ones * log_score + (1 - y) * log_rest)
        if self.weight is not None:
            loss = loss * self.weight
        if self.margin:
            loss = loss + _margin(z, y, h)
        if self.reduction == "none":
            return loss.to(logits.dtype)
        return (loss.mean() if self.reduction == "mean" else loss.sum()).to(logits.dtype)

    def extra_repr(self) -> str:
        """What ``print(loss)`` shows."""
        return f"bandwidth={self.bandwidth:g}, margin={self.margin}, reduction={self.reduction!r}"


class Perturb(nn.Module):
    """The last layer of a served classifier: probabilities in, perturbed probabilities out.

    Guarantee
        Independent draws from the kernel of :func:`calcert.perturb`, so that ``calcert.perturbed`` with the same
        bandwidth, computed from the probabilities that go in, bounds the calibration error of what comes out.

    It perturbs in `train` and in `eval` mode alike: a forgotten switch would void a certificate in silence. In training
    it has no place; :class:`PerturbedBCEWithLogitsLoss` takes logits. Noise is fresh at every call: its seed comes from
    the operating system, so that neither forked workers nor ``torch.manual_seed`` make two answers share it. It does
    not hide a probability from a client who may ask again (see :func:`calcert.perturb`). Draws are made in float64
    where the device has it; half-precision probabilities come out in float32, because rounding them again to a few bits
    would serve something else than what was certified. Gradients pass through to the original probabilities.

    Parameters
    ----------
    bandwidth
        h > 0, the one that is certified.
    generator
        A torch.Generator on the device of the probabilities, for reproducible draws. A fork copies it: give every
        process one of its own.

    Examples
    --------
    >>> import torch
    >>> from calcert.torch import Perturb
    >>> serve = Perturb(1/64, generator=torch.Generator().manual_seed(0))
    >>> serve(torch.tensor([0.0, 0.5, 1.0]))
    tensor([0.0586, 0.5110, 0.9848])
    """

    def __init__(self, bandwidth: float = 1 / 64, *, generator: torch.Generator | None = None) -> None:
        super().__init__()
        self.bandwidth = check_bandwidth(bandwidth)
        self.generator = generator

    def forward(self, probabilities: Tensor) -> Tensor:
        """Perturbed probabilities of the same shape."""
        _check_probabilities(probabilities)
        wide = torch.float32 if probabilities.device.type == "mps" else torch.float64
        x = probabilities.to(wide)
        if self.generator is None:
            u = torch.ops.calcert.fresh_uniform(x.detach())
        else:
            u = torch.rand(x.shape, generator=self.generator, dtype=wide, device=x.device)
        served = (self.bandwidth * _served(x, 1 - x, u, 1 - u, self.bandwidth)[0]).clamp(0.0, 1.0)
        return served.to(_at_least_float32(probabilities.dtype))

    def extra_repr(self) -> str:
        """What ``print(module)`` shows."""
        return f"bandwidth={self.bandwidth:g}"


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


def _served(x: Tensor, rest: Tensor, u: Tensor, u_rest: Tensor, h: Tensor | float) -> tuple[Tensor, Tensor]:
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
        multiple, turn = _served(x, rest, u, u_rest, h)
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
    def forward(logits: Tensor, labels: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
        z = logits.reshape(logits.shape[0] if logits.ndim else 1, math.prod(logits.shape[1:]))
        y, x = labels.reshape(z.shape), torch.sigmoid(z)
        ones = zeros = torch.arange(len(z), device=z.device)
        if _may_look_at(z):
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
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, Tensor], output: tuple[Tensor, Tensor]) -> None:
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(*inputs, output[1])

    @staticmethod
    def backward(ctx: Any, grad: Tensor, _: Tensor) -> tuple[Tensor, None, None]:
        logits, labels, h, slope = ctx.saved_tensors
        if torch.is_grad_enabled():
            slope = _Margin.forward(logits, labels, h)[1]
        return grad * slope, None, None


def _expected_log(logits: Tensor, h: Tensor) -> Tensor:
    value: Tensor = _ExpectedLog.apply(logits, h)[0]  # type: ignore[no-untyped-call]
    return value


def _margin(logits: Tensor, labels: Tensor, h: Tensor) -> Tensor:
    value: Tensor = _Margin.apply(logits, labels, h)[0]  # type: ignore[no-untyped-call]
    return value


def _at_least_float32(dtype: torch.dtype) -> torch.dtype:
    return torch.promote_types(dtype, torch.float32)


def _may_look_at(values: Tensor) -> bool:
    """Whether deciding by the values neither breaks a compiled graph nor waits for a device."""
    return not torch.compiler.is_compiling() and values.device.type == "cpu"


def _check_labels(logits: Tensor, labels: Tensor) -> None:
    if not logits.is_floating_point():
        raise TypeError(f"logits must be a floating-point tensor; got {logits.dtype}.")
    if logits.shape != labels.shape:
        raise ValueError(
            f"labels must have the shape of logits, {tuple(logits.shape)}; got {tuple(labels.shape)}. "
            "For one logit a row use logits.squeeze(-1)."
        )
    _check_range("labels", labels, "For -1/+1 labels pass (labels > 0).float().")


def _check_probabilities(probabilities: Tensor) -> None:
    if not probabilities.is_floating_point():
        raise TypeError(f"probabilities must be a floating-point tensor; got {probabilities.dtype}.")
    _check_range("probabilities", probabilities, "For logits pass torch.sigmoid(logits).")


def _check_range(name: str, values: Tensor, hint: str) -> None:
    if not _may_look_at(values):
        return
    bad = ~((values >= 0) & (values <= 1))
    if bool(bad.any()):
        place = int(bad.flatten().nonzero()[0])
        raise ValueError(f"{name} must lie in [0, 1]; got {values.flatten()[place]:g} at row {place}. {hint}")
