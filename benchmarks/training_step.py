"""What the perturbation-aware loss costs: time of a training step with it over one with torch.nn.BCEWithLogitsLoss.

    python benchmarks/training_step.py [--steps 60]

A step (forward, backward, Adam) is timed with the plain loss, and then each loss alone, forward and backward, on the
same logits: the difference between losses, next to a step, is what a step grows by. Times are the least processor times
on one thread, since what others do on the machine only ever adds. Each line prints ratios and the figure that they are
held to; the script fails if it is exceeded, or if the loss is not what a mean over perturbed scores says.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

import numpy as np
import torch
from rich.console import Console
from rich.progress import track
from rich.table import Table
from torch import Tensor, nn

from calcert.perturbation.noise import Noise
from calcert.torch import PerturbedBCEWithLogitsLoss

NOISES = (Noise("odds", 1 / 16), Noise("additive", 1 / 64))


def aware(noise: Noise, **options: object) -> nn.Module:
    """The aware loss for noise of either kind."""
    return PerturbedBCEWithLogitsLoss(**noise.parameters, **options)


class Encoder(nn.Module):
    """A small transformer: 4 layers of width 256 over 64 tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(1_000, 256)
        layer = nn.TransformerEncoderLayer(256, 8, 1_024, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 4)
        self.head = nn.Linear(256, 1)

    def forward(self, tokens: Tensor) -> Tensor:
        """One logit a document."""
        return self.head(self.layers(self.embed(tokens)).mean(1))


def perceptron(inputs: int, width: int) -> nn.Module:
    """Two hidden layers."""
    return nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))


def least(action: Callable[[], object], repeats: int) -> float:
    """The least processor seconds of an action, after three runs to warm up."""
    spent = []
    for _ in range(repeats + 3):
        start = time.process_time()
        action()
        spent.append(time.process_time() - start)
    return min(spent[3:])


def step_times(network: nn.Module, rows: Tensor, labels: Tensor, steps: int) -> list[float]:
    """Seconds of a plain step, and what it takes with the aware loss: both noises without margin, then with it."""
    losses = [nn.BCEWithLogitsLoss()]
    losses += [aware(noise, margin=margin) for margin in (False, True) for noise in NOISES]
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-4)

    def step() -> None:
        optimizer.zero_grad()
        losses[0](network(rows).squeeze(-1), labels).backward()
        optimizer.step()

    plain = least(step, steps)
    logits = network(rows).squeeze(-1).detach().requires_grad_()
    alone = [least(lambda loss=loss: loss(logits, labels).backward(), 300) for loss in losses]
    return [plain + seconds - alone[0] for seconds in alone]


def wrong_by(noise: Noise) -> float:
    """How far the loss is from the mean of -log of perturbed scores on a fine grid of quantiles."""
    z = np.linspace(-8, 8, 33)
    u = (np.arange(20_000) + 0.5) / 20_000
    x = 1 / (1 + np.exp(-z))
    slow = -np.log([noise.sample(np.full(u.size, each), u) for each in x]).mean(axis=1)
    loss = aware(noise, margin=False, reduction="none")
    return float(np.abs(loss(torch.tensor(z), torch.ones(33)).numpy() - slow).max())


def main() -> None:
    """Print the table; exit with 1 if any figure is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=60)
    steps = parser.parse_args().steps
    torch.set_num_threads(1)
    torch.manual_seed(0)
    labels = (torch.rand(256) < 0.5).float()
    cases = [
        ("perceptron 64-128-128-1, batch 256", perceptron(64, 128), torch.randn(256, 64), labels, 4 * steps, None),
        ("perceptron 784-512-512-1, batch 256", perceptron(784, 512), torch.randn(256, 784), labels, steps, 1.15),
        ("transformer, 4 layers of 256, 64 tokens, batch 32", Encoder(), torch.randint(1_000, (32, 64)), labels[:32],
         max(steps // 4, 3), 1.01),
    ]  # fmt: skip
    names = [noise.shown for noise in NOISES] + [f"{noise.shown}, margin" for noise in NOISES]
    table = Table("training step", "plain", *names, "held to")
    missed = 0
    for name, network, rows, y, repeats, limit in track(cases, "training steps", transient=True):
        plain, *seconds = step_times(network, rows, y, repeats)
        ratios = [each / plain for each in seconds]
        over = limit is not None and max(ratios) > limit
        missed += over
        held = "-" if limit is None else f"<= {limit}" + (" MISSED" if over else "")
        table.add_row(name, f"{1e3 * plain:.2f} ms", *(f"{ratio:.3f}" for ratio in ratios), held)
    Console(width=120).print(table)
    error = max(map(wrong_by, NOISES))
    print(f"largest difference between the loss and a mean over 20,000 quantiles: {error:.1e} (held to <= 1e-3)")
    sys.exit(missed > 0 or error > 1e-3)


if __name__ == "__main__":
    main()
