"""One picture of the outcome: losses, which classes are mistaken for which, and the mistaken images."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")  # draws into files; needs no display

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from .data import Data
from .training import Outcome

MISTAKES_SHOWN = 8
"""Of each model."""


def confusion(labels: NDArray[np.int64], predictions: NDArray[np.int64], classes: int) -> NDArray[np.int64]:
    """How many images of class (row) were taken for class (column)."""
    counts = np.zeros((classes, classes), np.int64)
    np.add.at(counts, (labels, predictions), 1)
    return counts


def draw(outcomes: list[Outcome], data: Data, path: Path) -> None:
    """Write the picture as PNG: losses of all, classes of the last of `outcomes`, a row of mistakes of each."""
    ratios = [4.5, *[1.6] * len(outcomes)]
    figure = Figure(figsize=(10, sum(ratios)), layout="constrained")
    figure.suptitle(f"Raxis on {data.name}")
    upper, *rows = figure.subfigures(len(ratios), 1, squeeze=False, height_ratios=ratios)[:, 0]
    losses, matrix = upper.subplots(1, 2)
    _draw_losses(losses, outcomes)
    _draw_confusion(matrix, outcomes[-1], data)
    for row, outcome in zip(rows, outcomes, strict=True):
        row.suptitle(f"Mistakes of the {outcome.name} (true → predicted)", fontsize="medium")
        _draw_mistakes(list(row.subplots(1, MISTAKES_SHOWN)), outcome, data)
    figure.savefig(path, dpi=90)


def _draw_losses(axes: Axes, outcomes: list[Outcome]) -> None:
    for outcome in outcomes:
        epochs = range(1, len(outcome.losses) + 1)
        label = f"{outcome.name}: {outcome.accuracy:.1%} right on the test images"
        axes.plot(epochs, outcome.losses, marker=".", label=label)
    axes.set(title="Loss on the training images", xlabel="epoch", ylabel="cross entropy", yscale="log")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(alpha=0.3)
    axes.legend()


def _draw_confusion(axes: Axes, outcome: Outcome, data: Data) -> None:
    count = len(data.classes)
    counts = confusion(data.test.labels, outcome.predictions, count)
    axes.imshow(np.log1p(counts), cmap="Blues")
    for row, column in np.argwhere(counts):
        color = "white" if row == column else "black"
        axes.text(column, row, str(counts[row, column]), ha="center", va="center", color=color, fontsize=7)
    rotation = 90 if max(map(len, data.classes)) > 2 else 0
    axes.set_xticks(range(count), data.classes, rotation=rotation)
    axes.set_yticks(range(count), data.classes)
    axes.set(title=f"{outcome.name}: test images by class", xlabel="predicted", ylabel="true")


def _draw_mistakes(axes: list[Axes], outcome: Outcome, data: Data) -> None:
    wrong = np.flatnonzero(outcome.predictions != data.test.labels)
    for axis in axes:
        axis.axis("off")
    for axis, index in zip(axes, wrong, strict=False):
        predicted, true = outcome.predictions[index], data.test.labels[index]
        axis.imshow(data.test.images[index, 0], cmap="gray_r", vmin=0, vmax=1)
        axis.set_title(f"{data.classes[true]} → {data.classes[predicted]}", fontsize="small")
