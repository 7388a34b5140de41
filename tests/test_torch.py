"""The loss is the published one to many digits, at any logit and in any precision, and Perturb serves the kernel."""

from __future__ import annotations

import copy
import math
import pickle
import shutil

import mpmath
import numpy as np
import pytest
import torch
from scipy import stats
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

import calcert
from calcert.perturbation import sech_kernel, torch_functions
from calcert.torch import Perturb, PerturbedBCEWithLogitsLoss

OF_THE_COMPILER = pytest.mark.filterwarnings("ignore::DeprecationWarning")
"""PyTorch's compiler calls what PyTorch deprecates."""

BANDWIDTHS = [2**-10, 2**-6, 2**-4, 1 / 4]


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def exact(logit: float, bandwidth: float) -> tuple[float, float]:
    """-E log s and its derivative in the logit, by adaptive quadrature over the score with 20 digits."""
    with mpmath.workdps(20):
        z, h = mpmath.mpf(logit), mpmath.mpf(bandwidth)
        x, rest, end = 1 / (1 + mpmath.exp(-z)), 1 / (1 + mpmath.exp(z)), 1 / mpmath.mpf(bandwidth)
        centre = x / h
        distances = [mpmath.mpf(d) for d in ("0.1", "1", "4", "12", "60")]
        marks = [0, centre, end, *distances[:4], *(centre - d for d in distances), *(centre + d for d in distances)]
        marks = sorted({m for m in marks if 0 <= m <= end})

        def mean(f):
            return mpmath.quad(lambda w: f(w) * mpmath.sech(w - centre) if w > 0 else mpmath.mpf(0), marks) / mass

        mass = 2 * (mpmath.atan(mpmath.tanh(x / h / 2)) + mpmath.atan(mpmath.tanh(rest / h / 2)))
        value = mean(lambda w: mpmath.log(h * w))
        both = mean(lambda w: mpmath.log(h * w) * mpmath.tanh(w - centre))
        turn = (mpmath.sech(x / h) - mpmath.sech(rest / h)) / mass
        return -float(value), -float(x * rest * (both - value * turn) / h)


LOGITS = [-1e4, -30.0, -9.0, -6.0, -4.0, -2.0, 0.0, 1.0, 4.0, 8.0, 1e4]


@pytest.fixture(scope="module")
def truth() -> dict[tuple[float, float], tuple[float, float]]:
    return {(z, h): exact(z, h) for z in LOGITS for h in BANDWIDTHS}


@pytest.mark.parametrize(
    ("dtype", "value_error", "slope_error"), [(torch.float64, 2e-7, 5e-7), (torch.float32, 3e-6, 3e-5)]
)
@pytest.mark.parametrize("label", [1.0, 0.0])
def test_loss_and_gradient_equal_the_exact_expectation(truth, label, dtype, value_error, slope_error):
    for (logit, h), (value, slope) in truth.items():
        sign = 1 if label else -1
        z = torch.tensor([sign * logit], dtype=dtype, requires_grad=True)
        loss = PerturbedBCEWithLogitsLoss(bandwidth=h)(z, torch.tensor([label]))
        loss.backward()
        assert loss.item() == pytest.approx(value, rel=value_error, abs=value_error), (logit, h)
        assert sign * z.grad.item() == pytest.approx(slope, abs=slope_error), (logit, h)  # type: ignore[union-attr]


def test_a_tiny_bandwidth_gives_plain_cross_entropy():
    z, y = torch.linspace(-5, 5, 41, dtype=torch.float64), torch.arange(41.0) % 2
    aware = PerturbedBCEWithLogitsLoss(bandwidth=2**-24, margin=False)(z, y)
    torch.testing.assert_close(aware, nn.BCEWithLogitsLoss()(z, y.double()), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("h", BANDWIDTHS)
@pytest.mark.parametrize("margin", [True, False])
def test_first_and_second_derivatives_are_right(h, margin):
    torch.manual_seed(0)
    z = (3 * torch.randn(12, dtype=torch.float64)).requires_grad_()
    y = (torch.arange(12) % 2).double()
    loss = PerturbedBCEWithLogitsLoss(bandwidth=h, margin=margin)
    assert torch.autograd.gradcheck(lambda t: loss(t, y), z)
    assert torch.autograd.gradgradcheck(lambda t: loss(t, y), z)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("h", [2**-20, 2**-10, 1 / 64, 1 / 4, 4.0])
def test_finite_for_logits_of_any_size_in_any_precision(dtype, h):
    top = torch.finfo(dtype).max
    size = torch.tensor([0.0, 1e-6, 1.0, 10.0, 88.0, 104.0, 745.0, 1e4, top]).to(dtype)
    z = torch.cat([size, -size])[:, None].repeat(1, 2).requires_grad_()
    y = torch.tensor([[0.0, 1.0]], dtype=dtype).expand_as(z)
    loss = PerturbedBCEWithLogitsLoss(bandwidth=h, margin=False)(z, y)
    loss.backward()
    assert loss.dtype == dtype
    assert torch.isfinite(loss)
    assert torch.isfinite(z.grad).all()  # type: ignore[arg-type]
    z = torch.cat([size, -size])[:-1].float().clamp(-1e30, 1e30).requires_grad_()
    loss = PerturbedBCEWithLogitsLoss(bandwidth=h)(z, (torch.arange(17) % 2).float())
    loss.backward()
    assert torch.isfinite(loss)
    assert torch.isfinite(z.grad).all()  # type: ignore[arg-type]


def test_half_precision_is_float32_inside():
    z, y = torch.linspace(-6, 6, 64).to(torch.bfloat16), (torch.arange(64) % 2).to(torch.bfloat16)
    for loss in (PerturbedBCEWithLogitsLoss(bandwidth=1 / 64), PerturbedBCEWithLogitsLoss().to(torch.bfloat16)):
        torch.testing.assert_close(loss(z, y), loss(z.float(), y.float()).to(torch.bfloat16), rtol=0, atol=0)


def slow_margin(z: torch.Tensor, y: torch.Tensor, h: float) -> float:
    """The published formula, pair by pair."""
    s = torch.sigmoid(z)
    terms = [
        math.log1p(math.exp(2 * h - (z[i] - z[j]).item()))
        for i in range(len(z))
        for j in range(len(z))
        if y[i] == 1 and y[j] == 0 and abs(s[i] - s[j]) < 2 * h
    ]
    return sum(terms) / len(terms) if terms else 0.0


@pytest.mark.parametrize("h", [1 / 64, 1 / 8])
@pytest.mark.parametrize("at_once", [1 << 22, 100])
def test_margin_is_the_mean_over_near_pairs(monkeypatch, h, at_once):
    monkeypatch.setattr(torch_functions, "PAIRS_AT_ONCE", at_once)
    torch.manual_seed(0)
    z, y = torch.randn(60, dtype=torch.float64), (torch.rand(60) < 0.4).double()
    margin = PerturbedBCEWithLogitsLoss(bandwidth=h)(z, y) - PerturbedBCEWithLogitsLoss(bandwidth=h, margin=False)(z, y)
    assert margin.item() == pytest.approx(slow_margin(z, y, h), abs=1e-12)


def test_margin_pairs_rows_inside_a_column_and_is_zero_without_pairs():
    torch.manual_seed(0)
    z, y = torch.randn(30, 2, dtype=torch.float64), (torch.rand(30, 2) < 0.5).double()
    aware, alone = (
        PerturbedBCEWithLogitsLoss(bandwidth=1 / 8),
        PerturbedBCEWithLogitsLoss(bandwidth=1 / 8, margin=False),
    )
    near = [int(((torch.sigmoid(z[y[:, c] == 1, c])[:, None] - torch.sigmoid(z[y[:, c] == 0, c])).abs() < 1 / 4).sum())
            for c in (0, 1)]  # fmt: skip
    expected = sum(n * slow_margin(z[:, c], y[:, c], 1 / 8) for c, n in enumerate(near)) / sum(near)
    assert (aware(z, y) - alone(z, y)).item() == pytest.approx(expected, abs=1e-12)
    for labels in (torch.ones(30, 2), torch.zeros(30, 2)):
        assert aware(z, labels).item() == alone(z, labels).item()
    assert aware(z[0, 0], y[0, 0]).item() == alone(z[0, 0], y[0, 0]).item()
    assert torch.isnan(aware(z[:0], y[:0]))  # As torch.nn.BCEWithLogitsLoss: the mean of nothing.


class LargestTensor(TorchDispatchMode):
    """Remembers the size of the largest tensor that any operation made."""

    size = 0

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        result = operation(*args, **(kwargs or {}))
        for tensor in result if isinstance(result, (tuple, list)) else [result]:
            if isinstance(tensor, torch.Tensor):
                self.size = max(self.size, tensor.numel())
        return result


def test_margin_needs_no_memory_for_all_pairs_at_once():
    rows = 20_000
    z = torch.linspace(-4, 4, rows).requires_grad_()
    y = (torch.arange(rows) % 2).float()
    with LargestTensor() as largest:
        PerturbedBCEWithLogitsLoss(bandwidth=2**-10)(z, y).backward()
    assert rows < largest.size <= torch_functions.PAIRS_AT_ONCE < (rows / 2) ** 2 / 20


def test_weights_and_reductions_are_those_of_torch():
    torch.manual_seed(0)
    z, y = torch.randn(20, 3, dtype=torch.float64), torch.rand(20, 3, dtype=torch.float64)
    weight, pos_weight = torch.rand(3, dtype=torch.float64), torch.tensor([1.0, 2.0, 5.0], dtype=torch.float64)
    for reduction in ("mean", "sum", "none"):
        options = {"weight": weight, "pos_weight": pos_weight, "reduction": reduction}
        aware = PerturbedBCEWithLogitsLoss(bandwidth=2**-24, margin=False, **options)(z, y)  # type: ignore[arg-type]
        torch.testing.assert_close(aware, nn.BCEWithLogitsLoss(**options)(z, y), rtol=1e-7, atol=1e-7)  # type: ignore[arg-type]
        with_margin = PerturbedBCEWithLogitsLoss(bandwidth=1 / 8, reduction="none")(z, y)
        reduced = {"mean": with_margin.mean(), "sum": with_margin.sum(), "none": with_margin}[reduction]
        torch.testing.assert_close(PerturbedBCEWithLogitsLoss(bandwidth=1 / 8, reduction=reduction)(z, y), reduced)


@pytest.mark.parametrize("backend", ["aot_eager", *(["inductor"] if shutil.which("g++") else [])])
@OF_THE_COMPILER
def test_compiles_whole(backend):
    torch.manual_seed(0)
    z, y = torch.randn(64, requires_grad=True), (torch.arange(64) % 2).float()
    loss = PerturbedBCEWithLogitsLoss(bandwidth=1 / 64)
    compiled = torch.compile(loss, backend=backend, fullgraph=True)
    torch.testing.assert_close(compiled(z, y), loss(z, y))
    coarse = PerturbedBCEWithLogitsLoss(bandwidth=1 / 8)
    torch.testing.assert_close(torch.compile(coarse, backend="eager", fullgraph=True)(z, y), coarse(z, y))
    torch.testing.assert_close(*(torch.autograd.grad(f(z, y), z)[0] for f in (compiled, loss)))
    serve = torch.compile(Perturb(bandwidth=1 / 64), backend=backend, fullgraph=True)
    x = torch.full((4_000,), 0.3)
    assert stats.kstest(sech_kernel.distribution(serve(x), 0.3, 1 / 64), "uniform").pvalue > 1e-3


@pytest.mark.parametrize("h", [2**-20, 2**-10, 1 / 64, 1 / 4, 4.0])
def test_perturb_draws_the_quantiles_of_the_kernel(h):
    x = torch.tensor([0.0, 1e-12, 1e-3, 0.02, 0.5, 0.9, 1 - 1e-9, 1.0], dtype=torch.float64).repeat(200)
    served = Perturb(bandwidth=h, generator=torch.Generator().manual_seed(0))(x)
    u = torch.rand(x.shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    np.testing.assert_allclose(served, sech_kernel.sample(x.numpy(), h, u.numpy()), rtol=1e-9, atol=1e-15)


def test_perturb_in_every_mode_dtype_and_copy():
    x = torch.rand(500)
    serve = Perturb(bandwidth=1 / 64)
    assert (serve.train()(x) != x).all()
    assert (serve.eval()(x) != x).all()
    assert (serve(x) != serve(x)).any()
    torch.manual_seed(1)
    first = serve(x)
    torch.manual_seed(1)
    assert (copy.deepcopy(pickle.loads(pickle.dumps(serve)))(x) != first).any()
    assert serve(x.to(torch.bfloat16)).dtype == torch.float32
    assert serve(x.double()).dtype == torch.float64
    assert serve(x[:0]).shape == (0,)
    assert torch.autograd.gradcheck(
        lambda t: Perturb(bandwidth=1 / 8, generator=torch.Generator().manual_seed(0))(t),
        x[:20].double().requires_grad_(),
    )


def test_a_trained_and_served_network_is_certified():
    torch.manual_seed(0)
    X = torch.randn(30_000, 4)
    y = (torch.rand(30_000) < torch.sigmoid(X @ torch.tensor([1.0, -1.0, 0.5, 0.0]))).float()
    network, loss = nn.Linear(4, 1), PerturbedBCEWithLogitsLoss()
    optimizer = torch.optim.Adam(network.parameters(), lr=0.05)
    for step in range(200):
        rows = slice(50 * step, 50 * step + 50)
        optimizer.zero_grad()
        loss(network(X[rows]).squeeze(-1), y[rows]).backward()
        optimizer.step()
    with torch.no_grad():
        p = torch.sigmoid(network(X[10_000:]).squeeze(-1))
    assert calcert.bounds.perturbed(calcert.summarize(p, y[10_000:])).upper < 0.08


def test_wrong_use_says_what_is_wrong():
    z, y = torch.zeros(3), torch.tensor([0.0, 1.0, 0.0])
    with pytest.raises(ValueError, match=r"labels must lie in \[0, 1\]; got -1 at row 1\. For -1/\+1 labels"):
        PerturbedBCEWithLogitsLoss()(z, torch.tensor([1.0, -1.0, 1.0]))
    with pytest.raises(ValueError, match=r"shape of logits, \(3, 1\); got \(3,\)\. .* logits\.squeeze"):
        PerturbedBCEWithLogitsLoss()(z[:, None], y)
    with pytest.raises(ValueError, match=r"shape of logits, \(3, 2\); got \(3,\)\. For two logits a row pass logits\["):
        PerturbedBCEWithLogitsLoss()(z[:, None].expand(3, 2), y)
    with pytest.raises(TypeError, match=r"floating-point tensor; got torch\.int64"):
        PerturbedBCEWithLogitsLoss()(z.long(), y)
    with pytest.raises(ValueError, match="reduction must be 'mean', 'sum' or 'none'; got 'batch'"):
        PerturbedBCEWithLogitsLoss(reduction="batch")
    with pytest.raises(ValueError, match="bandwidth must be positive"):
        PerturbedBCEWithLogitsLoss(bandwidth=0.0)
    with pytest.raises(ValueError, match=r"probabilities must lie in \[0, 1\]; got 1\.5 at row 1\. For logits pass"):
        Perturb()(torch.tensor([0.5, 1.5]))
    with pytest.raises(ValueError, match="got nan at row 0"):
        Perturb()(torch.tensor([math.nan]))
    with pytest.raises(TypeError, match="floating-point tensor"):
        Perturb()(torch.tensor([1, 0]))
    assert "odds=0.0625, margin=False" in str(PerturbedBCEWithLogitsLoss())
    assert "odds=0.0625" in str(Perturb())
