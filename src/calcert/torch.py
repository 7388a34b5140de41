"""Perturbed scores in PyTorch: modules that perturb predictions, and a loss that knows of the perturbation."""

from __future__ import annotations

from calcert.foundation.refusal import needed
from calcert.perturbation.noise import Noise, choose_noise

with needed("calcert.torch needs", "torch", "torch"):
    import torch
    from torch import Tensor, nn

    from calcert.perturbation.torch_functions import (
        expected_log,
        expected_softplus,
        inside,
        log_factor,
        margin,
        may_look_at,
        perturbed_score,
        uniform,
    )

__all__ = ["Perturb", "PerturbLogits", "PerturbedBCEWithLogitsLoss"]

ARGUMENTS = ("odds", "bandwidth")
"""What a state has of the noise, in this order."""


class PerturbedBCEWithLogitsLoss(nn.Module):
    """Binary cross-entropy of the perturbed score.

    The mean over rows of -(y E log s + (1 - y) E log(1 - s)), s the perturbed score. For noise on the odds that is
    E softplus of minus or plus the perturbed logit, and a row that is confidently wrong has a gradient of 1. For
    additive noise it is the published loss (Ciosek et al., ICLR 2026); there such a row has nearly no gradient, because
    the perturbed score hardly depends on its logit, and `margin` moves it: the mean of softplus(2h - (z_i - z_j)) over
    the pairs of a row i of label 1 and a row j of label 0 of the batch whose scores are less than 2h apart, z the
    logits.

    Use it in place of ``torch.nn.BCEWithLogitsLoss``, with the noise that predictions will have. It is a way to train,
    not a condition for anything: certificates hold for every classifier, however it was trained.

    Expectations are by quadrature with 24 nodes a logit: exact to 1e-7, and their gradients to 1e-6, in float64; in
    float32 to 1e-6 and 2e-5, and half precision is computed in float32.

    Parameters
    ----------
    odds, bandwidth
        The noise, as in :func:`calcert.perturb`; at most one of them, `odds` 1/16 if neither.
    margin
        Whether to add the margin term; with `odds`, over pairs whose logits are less than 2b apart, b for h. Left out,
        it is added for a bandwidth only. Time grows with the square of the batch (pairs inside one column), memory does
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
    >>> round(PerturbedBCEWithLogitsLoss(odds=1/16)(logits, labels).item(), 4)
    0.3957
    >>> round(PerturbedBCEWithLogitsLoss(bandwidth=1/64)(logits, labels).item(), 4)
    0.3956
    """

    weight: Tensor | None
    pos_weight: Tensor | None

    def __init__(
        self,
        *,
        odds: float | None = None,
        bandwidth: float | None = None,
        margin: bool | None = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__()
        if reduction not in ("mean", "sum", "none"):
            raise ValueError(f"reduction must be 'mean', 'sum' or 'none'; got {reduction!r}.")
        self.noise = choose_noise(odds, bandwidth)
        self.margin = self.noise.kind == "additive" if margin is None else bool(margin)
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
        size = torch.full((), self.noise.size, dtype=z.dtype, device=z.device)
        if self.noise.kind == "odds":
            surprise, other = expected_softplus(torch.stack([-z, z]), size)
        else:
            surprise, other = -expected_log(torch.stack([z, -z]), size)
        loss: Tensor = ones * surprise + (1 - y) * other
        if self.weight is not None:
            loss = loss * self.weight
        if self.margin:
            loss = loss + margin(z, y, z.detach() if self.noise.kind == "odds" else torch.sigmoid(z.detach()), size)
        if self.reduction == "none":
            return loss.to(logits.dtype)
        return (loss.mean() if self.reduction == "mean" else loss.sum()).to(logits.dtype)

    def extra_repr(self) -> str:
        """What ``print(loss)`` shows."""
        return f"{_shown(self.noise)}, margin={self.margin}, reduction={self.reduction!r}"


class _Perturbing(nn.Module):
    """A module whose state names its noise: what was certified with one noise is not loaded under another."""

    noise: Noise

    def get_extra_state(self) -> Tensor:
        """The size of the noise under its argument, odds and bandwidth, and 0 under the other."""
        return torch.tensor([self.noise.parameters.get(name, 0.0) for name in ARGUMENTS], dtype=torch.float64)

    def set_extra_state(self, state: Tensor) -> None:
        """Nothing to set: a state with another noise is refused."""
        if not isinstance(state, Tensor) or state.shape != (len(ARGUMENTS),):
            got = f"shape {tuple(state.shape)}" if isinstance(state, Tensor) else type(state).__name__
            raise ValueError(
                f"the state must hold {len(ARGUMENTS)} numbers, {' and '.join(ARGUMENTS)}; got {got}. It is "
                "not that of a module of calcert."
            )
        if not torch.equal(state.cpu().double(), self.get_extra_state()):
            saved = dict(zip(ARGUMENTS, state.tolist(), strict=True))
            raise ValueError(
                f"the state must have the noise of the module, {_shown(self.noise)}; got "
                f"{', '.join(f'{name}={size:g}' for name, size in saved.items() if size)}. What was certified with one "
                "noise says nothing of another: make the module with that of the state."
            )

    def extra_repr(self) -> str:
        """What ``print(module)`` shows."""
        return _shown(self.noise)


class Perturb(_Perturbing):
    """The last layer of a perturbed classifier: probabilities in, perturbed probabilities out.

    Guarantee
        Independent draws from the distribution of :func:`calcert.perturb`, so that ``calcert.bounds.perturbed`` with
        the same noise, computed from the probabilities that go in, bounds the calibration error of what comes out.

    It perturbs in `train` and in `eval` mode alike: a forgotten switch would void a certificate in silence. In training
    it has no place; :class:`PerturbedBCEWithLogitsLoss` takes logits. Noise is fresh at every call: its seed comes from
    the operating system, so that neither forked workers nor ``torch.manual_seed`` make two answers share it. It does
    not hide a probability from a client who may ask again (see :func:`calcert.perturb`). Draws are made in float64
    where the device has it; half-precision probabilities come out in float32, because rounding them again to a few bits
    would deploy something else than what was certified. Of what is drawn in float64, float32 adds at most 2^-20 to the
    calibration error (theory of noise on the odds, O5). No probability between 0 and 1 comes out as 0 or 1, in either
    precision. Gradients pass through to the original probabilities. ``state_dict`` holds the noise, and a module with
    another noise refuses to load it.

    Parameters
    ----------
    odds, bandwidth
        The noise that is certified, as in :func:`calcert.perturb`; at most one of them, `odds` 1/16 if neither.
    generator
        A torch.Generator on the device of the probabilities, for reproducible draws. A fork copies it: give every
        process one of its own.

    Examples
    --------
    >>> import torch
    >>> from calcert.torch import Perturb
    >>> deployed = Perturb(odds=1/16, generator=torch.Generator().manual_seed(0))
    >>> deployed(torch.tensor([0.001, 0.5, 1.0]))
    tensor([0.0012, 0.5110, 1.0000])
    """

    def __init__(
        self, *, odds: float | None = None, bandwidth: float | None = None, generator: torch.Generator | None = None
    ) -> None:
        super().__init__()
        self.noise = choose_noise(odds, bandwidth)
        self.generator = generator

    def forward(self, probabilities: Tensor) -> Tensor:
        """Perturbed probabilities of the same shape."""
        _check_floating("probabilities", probabilities)
        _check_range("probabilities", probabilities, "For logits pass torch.sigmoid(logits).")
        x = _wide(probabilities)
        u, size = uniform(x, self.generator), self.noise.size
        if self.noise.kind == "odds":
            # Without a division by x, so that probabilities of 0 have a gradient.
            drawn = x / (x + (1 - x) * torch.exp(-size * log_factor(u)))
        else:
            drawn = size * perturbed_score(x, 1 - x, u, 1 - u, size)[0]
        dtype = _at_least_float32(probabilities.dtype)
        return inside(drawn, x, dtype).to(dtype)


class PerturbLogits(_Perturbing):
    """The last layer of a perturbed classifier that hands out logits: noise on the odds, by addition.

    Guarantee
        Independent draws whose sigmoid follows the distribution of :func:`calcert.perturb` with the same `odds`, so
        that ``calcert.bounds.perturbed``, computed from the sigmoid of the logits that go in, bounds the calibration
        error. Of scores 0 and 1 see :func:`calcert.perturb_logits`.

    It perturbs in every mode, with noise that is as fresh as that of :class:`Perturb`. Every logit is one of a binary
    classifier. For K classes perturb the largest logit of a row and leave the others.

    Parameters
    ----------
    odds
        b in [1/256, 1/2], the one that is certified.
    generator
        A torch.Generator on the device of the logits, for reproducible draws.

    Examples
    --------
    >>> import torch
    >>> from calcert.torch import PerturbLogits
    >>> deployed = PerturbLogits(odds=1/16, generator=torch.Generator().manual_seed(0))
    >>> deployed(torch.tensor([-30.0, 0.0]))
    tensor([-29.8090,   0.0441])
    """

    def __init__(self, *, odds: float = 1 / 16, generator: torch.Generator | None = None) -> None:
        super().__init__()
        self.noise = Noise("odds", odds)
        self.generator = generator

    def forward(self, logits: Tensor) -> Tensor:
        """Perturbed logits of the same shape."""
        _check_floating("logits", logits)
        if may_look_at(logits) and bool(torch.isnan(logits).any()):
            place = int(torch.isnan(logits).flatten().nonzero()[0])
            raise ValueError(f"logits must be numbers; got nan at row {place}.")
        z = _wide(logits)
        return (z + self.noise.size * log_factor(uniform(z, self.generator))).to(_at_least_float32(logits.dtype))


def _wide(values: Tensor) -> Tensor:
    """In float64 where the device has it."""
    return values.to(torch.float32 if values.device.type == "mps" else torch.float64)


def _shown(noise: Noise) -> str:
    return f"{noise.keyword}={noise.size:g}"


def _at_least_float32(dtype: torch.dtype) -> torch.dtype:
    return torch.promote_types(dtype, torch.float32)


def _check_labels(logits: Tensor, labels: Tensor) -> None:
    _check_floating("logits", logits)
    if logits.shape != labels.shape:
        hint = "For one logit a row use logits.squeeze(-1)."
        if logits.shape == (*labels.shape, 2):
            hint = "For two logits a row pass logits[..., 1] - logits[..., 0]."
        raise ValueError(
            f"labels must have the shape of logits, {tuple(logits.shape)}; got {tuple(labels.shape)}. {hint}"
        )
    _check_range("labels", labels, "For -1/+1 labels pass (labels > 0).float().")


def _check_floating(name: str, values: Tensor) -> None:
    if not values.is_floating_point():
        raise TypeError(f"{name} must be a floating-point tensor; got {values.dtype}.")


def _check_range(name: str, values: Tensor, hint: str) -> None:
    if may_look_at(values) and bool((bad := ~((values >= 0) & (values <= 1))).any()):
        place = int(bad.flatten().nonzero()[0])
        raise ValueError(f"{name} must lie in [0, 1]; got {values.flatten()[place]:g} at row {place}. {hint}")
