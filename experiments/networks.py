"""Networks on top of frozen encoders, trained with the plain or the perturbation-aware loss.

A network is a perceptron with one hidden layer. Every loss is given the same rates and epochs to choose from, and what
is kept is what will be served best: the rate and the epoch with the least log loss of the perturbed validation rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from calcert.perturbation.noise import Noise
from calcert.torch import PerturbedBCEWithLogitsLoss
from experiments import datasets

TRAINING, VALIDATION = {"IMDb": 1_000, "Enron spam": 1_000, "CIFAR transport": 1_000}, 250
"""Rows as published; all others are for the test."""

RATES, EPOCHS, BATCH, HIDDEN = (1e-3, 3e-3), 12, 100, 64


@dataclass(frozen=True)
class Training:
    """The plain loss, or the aware one for a noise, without or with its margin term."""

    noise: Noise | None = None
    margin: bool = False

    @property
    def name(self) -> str:
        """As tables and files name it."""
        return "plain" if self.noise is None else "aware, margin" if self.margin else "aware"

    def loss(self, reduction: str = "mean") -> nn.Module:
        """What is minimised."""
        if self.noise is None:
            return nn.BCEWithLogitsLoss(reduction=reduction)
        return PerturbedBCEWithLogitsLoss(**self.noise.parameters, margin=self.margin, reduction=reduction)


class Perceptrons(nn.Module):
    """One network for each seed, side by side: they share nothing, and are trained in the time of a few."""

    def __init__(self, seeds: int, inputs: int) -> None:
        super().__init__()

        def uniform(*shape: int) -> nn.Parameter:
            return nn.Parameter((2 * torch.rand(seeds, *shape) - 1) / math.sqrt(inputs if shape[1] > 1 else HIDDEN))

        self.first, self.shift = uniform(inputs, HIDDEN), uniform(1, HIDDEN)
        self.second, self.last = uniform(HIDDEN, 1), uniform(1, 1)

    def forward(self, rows: Tensor) -> Tensor:
        """A logit for each seed and row, from features of each seed and row."""
        hidden = nn.functional.relu(torch.baddbmm(self.shift, rows, self.first))
        hidden = nn.functional.dropout(hidden, 0.2, self.training)
        return torch.baddbmm(self.last, hidden, self.second).squeeze(-1)


class Rows:
    """Features and labels of training, validation and test rows: for each seed a part of all rows, by chance.

    Features are in units of what the training rows of the seed show.
    """

    def __init__(self, features: Tensor, labels: Tensor, seeds: int, training: int) -> None:
        self.features, self.labels = features, labels
        self.parts = [datasets.split(len(labels), (training, VALIDATION, -1), seed) for seed in range(seeds)]
        fitted = torch.stack([features[part[0]] for part in self.parts])
        self.middle, self.spread = fitted.mean(1), fitted.std(1) + 1e-3

    def stacked(self, which: int) -> tuple[Tensor, Tensor]:
        """Features and labels of one kind of part, seeds first."""
        found = [(self.of(seed, which), self.labels[part[which]]) for seed, part in enumerate(self.parts)]
        inputs, labels = zip(*found, strict=True)
        return torch.stack(inputs), torch.stack(labels)

    def of(self, seed: int, which: int) -> Tensor:
        """Features of one part of one seed."""
        return (self.features[self.parts[seed][which]] - self.middle[seed]) / self.spread[seed]


def train(rows: Rows, training: Training, noises: tuple[Noise | None, ...]) -> Iterator[tuple[int, int, Tensor]]:
    """(seed, place of the noise, test logits): of the rate and epoch whose served validation rows lose least."""
    (x, y), validation = rows.stacked(0), rows.stacked(1)
    seeds, loss = torch.arange(len(x))[:, None], training.loss()
    losses = [Training(noise).loss("none") for noise in noises]
    best = torch.full((len(noises), len(x)), math.inf)
    kept = [Perceptrons(len(x), x.shape[2]) for _ in noises]
    for rate in RATES:
        torch.manual_seed(0)
        networks = Perceptrons(len(x), x.shape[2])
        optimizer = torch.optim.AdamW(networks.parameters(), lr=rate, weight_decay=0.01, fused=True)
        for _ in range(EPOCHS):
            networks.train()
            for batch in torch.rand(x.shape[:2]).argsort(1).split(BATCH, dim=1):
                optimizer.zero_grad()
                logits, labels = networks(x[seeds, batch]), y[seeds, batch]
                # The mean over pairs is one of each network's own batch.
                total = sum(map(loss, logits, labels)) if training.margin else len(x) * loss(logits, labels)
                total.backward()
                optimizer.step()
            networks.eval()
            with torch.no_grad():
                logits = networks(validation[0])
                for place, criterion in enumerate(losses):
                    lost = criterion(logits, validation[1]).mean(1)
                    better = lost < best[place]
                    best[place, better] = lost[better]
                    for mine, found in zip(kept[place].parameters(), networks.parameters(), strict=True):
                        mine[better] = found[better]
    for seed in range(len(x)):
        inputs = rows.of(seed, 2)
        for place, network in enumerate(kept):
            with torch.no_grad():
                hidden = nn.functional.relu(inputs @ network.first[seed] + network.shift[seed])
                yield seed, place, (hidden @ network.second[seed] + network.last[seed]).squeeze(-1)
