"""The training loop, predictions, and checkpoints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

import raxis
from raxis import nn
from raxis.nn import functional as F
from raxis.utils.data import DataLoader, TensorDataset

from .data import Data, Part
from .models import MODELS

BATCH = 64
PEAK_RATE = 1e-2
"""The learning rate rises to this and falls to nearly nothing (OneCycleLR)."""


@dataclass(frozen=True)
class Outcome:
    """What became of one model: mean loss of each epoch, and the predicted class of each test image."""

    name: str
    model: nn.Module
    losses: list[float]
    predictions: NDArray[np.int64]
    accuracy: float


def train(name: str, data: Data, epochs: int) -> Outcome:
    """Train the model called `name` on the default device, showing a progress bar."""
    model = MODELS[name](data.size, len(data.classes))
    losses = list(_epochs(name, model, data.train, epochs))
    predictions = predict(model, data.test)
    accuracy = float((predictions == data.test.labels).mean())
    return Outcome(name, model, losses, predictions, accuracy)


def _epochs(name: str, model: nn.Module, part: Part, epochs: int) -> Iterator[float]:
    """Train, yielding each epoch's mean loss."""
    loader = DataLoader(TensorDataset(*_tensors(part)), batch_size=BATCH, shuffle=True)
    optimizer = raxis.optim.AdamW(model.parameters(), lr=PEAK_RATE)
    schedule = raxis.optim.lr_scheduler.OneCycleLR(optimizer, PEAK_RATE, total_steps=epochs * len(loader))
    model.train()
    # disable=None: no bar where the output is no terminal, such as a log.
    with tqdm(total=epochs * len(loader), desc=name, unit="batch", disable=None) as bar:
        for epoch in range(1, epochs + 1):
            total = 0.0
            for images, labels in loader:
                optimizer.zero_grad()
                loss = F.cross_entropy(model(images), labels)
                loss.backward()
                optimizer.step()
                schedule.step()
                total += loss.item() * len(labels)
                bar.update()
            bar.set_postfix(epoch=f"{epoch}/{epochs}", loss=f"{total / len(part):.4f}")
            yield total / len(part)


def predict(model: nn.Module, part: Part) -> NDArray[np.int64]:
    """The most likely class of each image."""
    model.eval()
    images, _ = _tensors(part)
    with raxis.no_grad():
        found = [model(batch).argmax(1).cpu().numpy() for batch in images.split(256)]
    return np.concatenate(found)


def _tensors(part: Part) -> tuple[raxis.Tensor, raxis.Tensor]:
    device = raxis.get_default_device()
    return raxis.tensor(part.images, device=device), raxis.tensor(part.labels, device=device)


def save(outcome: Outcome, data: Data, path: Path) -> None:
    """Write what is needed to make the model again."""
    content = {
        "model": outcome.name,
        "size": list(data.size),
        "classes": list(data.classes),
        "state": outcome.model.state_dict(),
    }
    raxis.save(content, path)


def restore(path: Path) -> nn.Module:
    """A new model with the parameters in the checkpoint at `path`."""
    content = raxis.load(path, map_location=raxis.get_default_device())
    model = MODELS[content["model"]](tuple(content["size"]), len(content["classes"]))
    model.load_state_dict(content["state"])
    return model
