"""Noise on the odds in PyTorch: draws of the law, on probabilities and on logits, and the loss with its gradient."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import torch
from scipy.special import expit, logit
from torch import nn

from calcert.perturbation import odds_kernel, sech_kernel, torch_functions
from calcert.perturbation.noise import Noise
from calcert.torch import Perturb, PerturbedBCEWithLogitsLoss, PerturbLogits
from tests.perturbation.test_noise import SCORES, follows

NOISE = Noise("odds", 1 / 16)
SIZES = (1 / 64, 1 / 16, 1 / 4, 1 / 2)


def seeded() -> torch.Generator:
    return torch.Generator().manual_seed(0)


@pytest.mark.parametrize("x", SCORES)
def test_perturb_draws_the_law_at_every_probability(x):
    drawn = Perturb(odds=1 / 16, generator=seeded())(torch.full((20_000,), x, dtype=torch.float64))
    assert follows(NOISE, x, drawn.numpy(), ulp=2.0**-50)
    single = Perturb(odds=1 / 16)(torch.full((20_000,), x, dtype=torch.float32))
    assert single.dtype == torch.float32
    if 1e-30 < x < 0.9:
        assert follows(NOISE, float(np.float32(x)), single.double().numpy(), ulp=2.0**-23)


@pytest.mark.parametrize("x", [1e-300, 1e-7, 0.3, 1 - 2.0**-53])
def test_perturb_logits_draws_the_law_without_going_through_probabilities(x):
    z = float(logit(x))
    drawn = PerturbLogits(odds=1 / 16, generator=seeded())(torch.full((20_000,), z, dtype=torch.float64))
    chance = 2 / np.pi * np.arctan(np.exp((drawn.numpy() - z) * 16))
    assert follows(Noise("additive", 1e6), 0.5, chance)  # Nearly flat on [0, 1]: the chance of a draw is uniform.
    if x < 0.5:
        assert follows(NOISE, x, expit(drawn.numpy()), ulp=2.0**-46)


def test_scores_zero_and_one_and_infinite_logits_stay_as_they_are():
    ends = torch.tensor([0.0, 1.0])
    assert (Perturb(odds=1 / 2)(ends) == ends).all()
    far = torch.tensor([-math.inf, math.inf])
    assert (PerturbLogits(odds=1 / 2)(far) == far).all()


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16])
@pytest.mark.parametrize("size", [{"odds": 1 / 16}, {"odds": 1 / 2}, {"bandwidth": 1e-9}, {"bandwidth": 3.0}])
def test_no_probability_inside_is_served_as_0_or_1(dtype, size):
    limits = torch.finfo(dtype)
    near = [limits.tiny * limits.eps, limits.tiny, 1 - limits.eps, 1 - limits.eps / 2]
    x = torch.tensor(near, dtype=dtype).repeat_interleave(20_000).requires_grad_()
    served = Perturb(generator=seeded(), **size)(x)
    assert 0 < served.min() < served.max() < 1
    served.sum().backward()
    if "odds" in size:
        assert (x.grad > 0).all()  # type: ignore[operator, union-attr]


def test_draws_are_those_of_numpy_at_the_same_chances():
    x = torch.rand(1000, dtype=torch.float64, generator=seeded())
    u = torch.rand(1000, dtype=torch.float64, generator=seeded())
    for b in SIZES:
        served = Perturb(odds=b, generator=seeded())(x)
        np.testing.assert_allclose(served, odds_kernel.sample(x.numpy(), b, u.numpy()), rtol=1e-13)
        moved = PerturbLogits(odds=b, generator=seeded())(torch.zeros(1000))
        np.testing.assert_allclose(moved, b * sech_kernel.standard_noise(u.numpy()), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_every_chance_gives_a_number(dtype):
    u = torch.tensor([0.0, torch.finfo(dtype).tiny, 0.5, 1 - torch.finfo(dtype).eps / 2, 1.0], dtype=dtype)
    noise = torch_functions.log_factor(u)
    assert torch.isfinite(noise).all()
    assert noise[0] == -noise[-1] < -15


def test_gradients_pass_through_even_at_the_ends():
    x = torch.tensor([0.0, 1e-30, 0.2, 0.9, 1.0], dtype=torch.float64, requires_grad=True)
    Perturb(odds=1 / 4)(x).sum().backward()
    assert torch.isfinite(x.grad).all()  # type: ignore[arg-type]
    assert (x.grad > 0).all()  # type: ignore[operator, union-attr]
    assert torch.autograd.gradcheck(
        lambda t: Perturb(odds=1 / 4, generator=seeded())(t),
        torch.linspace(0.05, 0.95, 10, dtype=torch.float64).requires_grad_(),
    )


def exact(z: float, b: float) -> tuple[float, float]:
    """E softplus(z + b N) and E sigmoid(z + b N), by adaptive quadrature."""
    with mpmath.workdps(20):
        line = [-200, -60, -16, -4, 0, 4, 16, 60, 200]
        law = lambda u: mpmath.sech(u) / mpmath.pi  # noqa: E731
        value = mpmath.quad(lambda u: mpmath.log1p(mpmath.exp(z + b * u)) * law(u), line)
        slope = mpmath.quad(lambda u: law(u) / (1 + mpmath.exp(-z - b * u)), line)
        return float(value), float(slope)


@pytest.mark.parametrize(
    ("dtype", "value_error", "slope_error"), [(torch.float64, 5e-7, 1e-6), (torch.float32, 3e-6, 1e-5)]
)
def test_loss_and_gradient_equal_the_exact_expectation(dtype, value_error, slope_error):
    for b in SIZES:
        for at in (-40.0, -6.0, -1.0, 0.0, 0.3, 2.0, 12.0):
            value, slope = exact(at, b)
            for label, sign in ((0.0, 1), (1.0, -1)):
                z = torch.tensor([sign * at], dtype=dtype, requires_grad=True)
                loss = PerturbedBCEWithLogitsLoss(odds=b)(z, torch.tensor([label]))
                loss.backward()
                assert loss.item() == pytest.approx(value, rel=value_error, abs=value_error), (b, at)
                assert sign * z.grad.item() == pytest.approx(slope, abs=slope_error), (b, at)  # type: ignore[union-attr]


def test_a_confidently_wrong_row_keeps_its_gradient_and_loses_it_with_a_bandwidth():
    slope = {}
    for name, loss in (
        ("odds", PerturbedBCEWithLogitsLoss(odds=1 / 16)),
        ("bandwidth", PerturbedBCEWithLogitsLoss(bandwidth=1 / 64)),
    ):
        z = torch.tensor([30.0], requires_grad=True)
        loss(z, torch.tensor([0.0])).backward()
        slope[name] = z.grad.item()  # type: ignore[union-attr]
    assert slope["odds"] == pytest.approx(1.0, abs=1e-6)
    assert abs(slope["bandwidth"]) < 1e-6


def test_derivatives_are_right_with_and_without_margin():
    torch.manual_seed(0)
    z = (3 * torch.randn(12, dtype=torch.float64)).requires_grad_()
    y = (torch.arange(12) % 2).double()
    for margin in (True, False):
        loss = PerturbedBCEWithLogitsLoss(odds=1 / 4, margin=margin)
        assert torch.autograd.gradcheck(lambda t, loss=loss: loss(t, y), z)
        assert torch.autograd.gradgradcheck(lambda t, loss=loss: loss(t, y), z)


def test_the_margin_is_off_unless_asked_for_and_then_over_pairs_with_near_logits():
    torch.manual_seed(0)
    z, y = torch.randn(40, dtype=torch.float64), (torch.rand(40) < 0.5).double()
    plain, with_margin = PerturbedBCEWithLogitsLoss(odds=1 / 4), PerturbedBCEWithLogitsLoss(odds=1 / 4, margin=True)
    assert not plain.margin
    pairs = [
        math.log1p(math.exp(0.5 - (z[i] - z[j]).item()))
        for i in range(40)
        for j in range(40)
        if y[i] == 1 and y[j] == 0 and abs(z[i] - z[j]) < 0.5
    ]
    assert (with_margin(z, y) - plain(z, y)).item() == pytest.approx(sum(pairs) / len(pairs), abs=1e-12)


def test_small_noise_gives_plain_cross_entropy_and_infinite_sizes_stay_finite():
    z, y = torch.linspace(-5, 5, 41, dtype=torch.float64), torch.arange(41.0) % 2
    aware = PerturbedBCEWithLogitsLoss(odds=1 / 256)(z, y)
    torch.testing.assert_close(aware, nn.BCEWithLogitsLoss()(z, y.double()), rtol=1e-5, atol=1e-5)
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        size = torch.tensor([0.0, 88.0, 1e4, torch.finfo(dtype).max / 4]).to(dtype)
        z = torch.cat([size, -size]).requires_grad_()
        loss = PerturbedBCEWithLogitsLoss(odds=1 / 2, reduction="none")(z, torch.ones_like(z))
        loss.sum().backward()
        assert torch.isfinite(loss).all()
        assert torch.isfinite(z.grad).all()  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_compiles_whole():
    torch.manual_seed(0)
    z, y = torch.randn(64, requires_grad=True), (torch.arange(64) % 2).float()
    loss = PerturbedBCEWithLogitsLoss(odds=1 / 16)
    compiled = torch.compile(loss, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(z, y), loss(z, y))
    serve = torch.compile(Perturb(odds=1 / 16), backend="aot_eager", fullgraph=True)
    assert follows(NOISE, float(np.float32(0.3)), serve(torch.full((4_000,), 0.3)).double().numpy(), ulp=2.0**-22)


MODULES = [Perturb(odds=1 / 16), Perturb(odds=1 / 2), Perturb(bandwidth=1 / 16), Perturb(bandwidth=1 / 3)]


@pytest.mark.parametrize("saved", [*MODULES, PerturbLogits(odds=1 / 2)], ids=str)
def test_a_state_holds_the_noise_and_loads_under_no_other(saved, tmp_path):
    model = nn.Sequential(nn.Linear(1, 1), nn.Sigmoid(), saved).half()
    torch.save(model.state_dict(), tmp_path / "state.pt")
    state = torch.load(tmp_path / "state.pt", weights_only=True)
    for other in (*MODULES, PerturbLogits(odds=1 / 16)):
        served = nn.Sequential(nn.Linear(1, 1), nn.Sigmoid(), other)
        if other.noise == saved.noise:
            served.load_state_dict(state)
        else:
            with pytest.raises(
                ValueError, match=f"the noise of the module, {other.extra_repr()}; got {saved.extra_repr()}"
            ):
                served.load_state_dict(state)
    with pytest.raises(RuntimeError, match=r"Missing key.*_extra_state"):
        saved.load_state_dict({})


@pytest.mark.parametrize(
    ("state", "got"), [(torch.tensor([1.0]), r"shape \(1,\)"), (torch.ones(2, 1), r"shape \(2, 1\)"), ({}, "dict")]
)
def test_a_state_that_is_none_of_a_module_is_refused_in_words(state, got):
    with pytest.raises(ValueError, match=f"the state must hold 2 numbers, odds and bandwidth; got {got}"):
        Perturb(odds=1 / 16).load_state_dict({"_extra_state": state})


def test_wrong_use_says_what_is_wrong():
    with pytest.raises(ValueError, match="odds and bandwidth exclude each other"):
        Perturb(odds=1 / 16, bandwidth=1 / 64)
    with pytest.raises(ValueError, match="odds must lie between 1/256 and 1/2"):
        PerturbLogits(odds=2.0)
    with pytest.raises(ValueError, match="logits must be numbers; got nan at row 1"):
        PerturbLogits()(torch.tensor([0.0, math.nan]))
    with pytest.raises(TypeError, match="floating-point tensor"):
        PerturbLogits()(torch.tensor([1]))
    assert "odds=0.0625, margin=False" in str(PerturbedBCEWithLogitsLoss(odds=1 / 16))
    assert str(Perturb(odds=1 / 16)) == "Perturb(odds=0.0625)"
    assert str(PerturbLogits()) == "PerturbLogits(odds=0.0625)"
