"""Images to train on: scikit-learn's handwritten digits, or idx files as MNIST and Fashion-MNIST have them."""

from __future__ import annotations

import gzip
import math
import zlib
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

INSTALLED = Path("/usr/share/datasets/fashion-mnist")
"""Where Debian's package dataset-fashion-mnist puts its files."""

FASHION = ("T-shirt", "trousers", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot")

FILES = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)
"""Images and labels to train on, images and labels to test on."""


class DataError(Exception):
    """The data cannot be used; the message says why and what to do."""


@dataclass(frozen=True)
class Part:
    """Images as float32 of shape (count, 1, height, width) from 0 to 1, and their classes as int64."""

    images: NDArray[np.float32]
    labels: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.labels)

    def first(self, count: int) -> Part:
        """The first `count` images."""
        return Part(self.images[:count], self.labels[:count])


@dataclass(frozen=True)
class Data:
    """Two disjoint parts of one data set, and how many epochs suffice to learn it."""

    name: str
    source: str
    train: Part
    test: Part
    classes: tuple[str, ...]
    epochs: int

    @property
    def size(self) -> tuple[int, int]:
        """Height and width of an image."""
        height, width = self.train.images.shape[2:]
        return height, width

    def limited(self, count: int) -> Data:
        """The same with at most `count` images to train on, and a quarter of that to test on."""
        return replace(self, train=self.train.first(count), test=self.test.first(max(count // 4, 1)))

    def __str__(self) -> str:
        height, width = self.size
        return (
            f"{self.name} from {self.source}: {height} x {width} pixels, {len(self.classes)} classes, "
            f"{len(self.train)} images to train on, {len(self.test)} to test on"
        )


def load(directory: Path | None, seed: int) -> Data:
    """The idx files in `directory`, else an installed Fashion-MNIST, else scikit-learn's digits.

    Raises:
        DataError: if `directory` is given and does not hold the four files, or one of them is damaged.
    """
    if directory is None and INSTALLED.is_dir():
        directory = INSTALLED
    return load_digits(seed) if directory is None else load_idx(directory)


def load_digits(seed: int) -> Data:
    """1,797 digits of 43 people, a quarter of them kept for the test (E. Alpaydin and C. Kaynak, 1998)."""
    from sklearn.datasets import load_digits as digits
    from sklearn.model_selection import train_test_split

    bunch = digits()
    images = (bunch.images[:, None] / 16).astype(np.float32)
    labels = bunch.target.astype(np.int64)
    train, test = train_test_split(np.arange(len(labels)), test_size=0.25, stratify=labels, random_state=seed)
    return Data(
        "handwritten digits",
        "scikit-learn",
        Part(images[train], labels[train]),
        Part(images[test], labels[test]),
        tuple("0123456789"),
        epochs=20,
    )


def load_idx(directory: Path) -> Data:
    """Four idx files, compressed or not, named as MNIST and Fashion-MNIST name them.

    Raises:
        DataError: if a file is missing, damaged, or does not fit the others.
    """
    train_images, train_labels, test_images, test_labels = (
        _read_idx(_find(directory, name)) for name in FILES
    )
    train = _part(train_images, train_labels, directory)
    test = _part(test_images, test_labels, directory)
    if train.images.shape[1:] != test.images.shape[1:]:
        raise DataError(f"The images to train and to test on in '{directory}' differ in size.")
    count = int(max(train.labels.max(), test.labels.max())) + 1
    fashion = "fashion" in directory.resolve().name.lower() and count == len(FASHION)
    classes = FASHION if fashion else tuple(map(str, range(count)))
    name = "Fashion-MNIST" if fashion else "images"
    return Data(name, str(directory), train, test, classes, epochs=3)


def _find(directory: Path, name: str) -> Path:
    if not directory.is_dir():
        raise DataError(f"There is no directory '{directory}': give one that holds {', '.join(FILES)}.")
    for path in (directory / f"{name}.gz", directory / name):
        if path.is_file():
            return path
    raise DataError(f"'{directory}' holds neither {name}.gz nor {name}, but needs all of {', '.join(FILES)}.")


def _read_idx(path: Path) -> NDArray[np.uint8]:
    """An idx file of bytes: two zeros, type 8, rank, sizes as big-endian int32, elements."""
    try:
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"'{path}' cannot be read: {error}.") from error
    if len(content) < 4 or content[:3] != b"\0\0\x08":
        raise DataError(
            f"'{path}' is not an idx file of bytes: it starts with {content[:4].hex(' ') or 'nothing'}."
        )
    start = 4 + 4 * content[3]
    shape = tuple(map(int, np.frombuffer(content[4:start], ">u4"))) if len(content) >= start else ()
    if len(shape) != content[3] or len(content) - start != math.prod(shape):
        raise DataError(
            f"'{path}' is damaged: its {len(content)} bytes do not fit its header, which says {shape}."
        )
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)


def _part(images: NDArray[np.uint8], labels: NDArray[np.uint8], directory: Path) -> Part:
    if images.ndim != 3 or labels.shape != images.shape[:1] or not len(labels):
        raise DataError(
            f"'{directory}' holds images of shape {images.shape}, but labels of shape {labels.shape}."
        )
    return Part((images[:, None] / np.float32(255)).astype(np.float32), labels.astype(np.int64))
