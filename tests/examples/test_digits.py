"""The handwriting demo from its command line: what it writes is read with PyTorch and Matplotlib."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest
import torch

from examples.handwriting import data

ROOT = Path(__file__).resolve().parents[2]


def demo(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "examples/digits.py", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False)


def write_idx(path: Path, array: np.ndarray) -> None:
    header = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
    path.write_bytes(gzip.compress(header + array.astype(np.uint8).tobytes()))


def write_all(directory: Path, arrays: list[np.ndarray]) -> Path:
    for name, array in zip(data.FILES, arrays, strict=True):
        write_idx(directory / f"{name}.gz", array)
    return directory


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """scikit-learn's digits as MNIST's four files."""
    whole = data.load_digits(seed=0)
    arrays = [
        array
        for part in (whole.train, whole.test)
        for array in ((part.images[:, 0] * 255).round(), part.labels)
    ]
    return write_all(tmp_path_factory.mktemp("digits"), arrays)


class CNN(torch.nn.Module):
    """The demo's CNN in PyTorch, for images of 8 x 8 pixels."""

    def __init__(self) -> None:
        super().__init__()
        first, second = torch.nn.Conv2d(1, 16, 3, padding=1), torch.nn.Conv2d(16, 32, 3, padding=1)
        pool, relu = torch.nn.MaxPool2d(2), torch.nn.ReLU()
        self.features = torch.nn.Sequential(first, relu, pool, second, relu, pool)
        self.classifier = torch.nn.Sequential(
            torch.nn.Flatten(), torch.nn.Identity(), torch.nn.Linear(128, 10)
        )

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.classifier(self.features(images))


@pytest.mark.slow
def test_demo_learns_draws_and_saves(digits: Path, tmp_path: Path) -> None:
    done = demo("--data", digits, "--epochs", 8, "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    accuracies = {
        name: float(percent) / 100
        for name, percent in re.findall(r"^(\w+): .*accuracy ([\d.]+)%", done.stdout, re.MULTILINE)
    }
    assert set(accuracies) == {"MLP", "CNN"}
    assert min(accuracies.values()) > 0.9
    assert f"images from {digits}" in done.stdout

    picture = tmp_path / "digits.png"
    assert picture.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert len(np.unique(matplotlib.image.imread(picture))) > 20

    # PyTorch reads the checkpoint, and computes with it the accuracy that the demo printed.
    model = CNN()
    model.load_state_dict(torch.load(tmp_path / "digits.pt", weights_only=True)["state"])
    test = data.load(digits, seed=0).test
    predicted = model(torch.from_numpy(test.images)).argmax(1).numpy()
    assert (predicted == test.labels).mean() == pytest.approx(accuracies["CNN"], abs=1e-4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--data", "no-such-directory"], "There is no directory 'no-such-directory'"),
        (["--data", "docs"], "holds neither train-images-idx3-ubyte.gz nor train-images-idx3-ubyte"),
        (["--device", "abacus"], "Unknown device 'abacus'"),
        (["--device", "meta"], "meta"),
        (["--out", "LICENSE"], "'LICENSE' cannot be written to: File exists"),
        (["--epochs", "0"], "argument --epochs: 0 is not a positive number"),
    ],
)
def test_what_cannot_be_used_is_said_before_any_work(
    arguments: list[str], message: str, tmp_path: Path
) -> None:
    done = demo("--out", tmp_path, *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_default_is_an_installed_fashion_mnist_else_the_digits(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    installed = tmp_path / "fashion-mnist"
    monkeypatch.setattr(data, "INSTALLED", installed)
    whole = data.load(None, seed=3)
    assert (len(whole.train), len(whole.test)) == (1347, 450)
    assert whole.size == (8, 8)
    assert np.bincount(whole.test.labels).min() >= 43  # a quarter of each class

    installed.mkdir()
    images, labels = np.full((10, 4, 6), 255), np.arange(10)
    write_all(installed, [images, labels, images[:3], labels[:3]])
    whole = data.load(None, seed=3)
    assert whole.classes[9] == "boot"
    assert whole.size == (4, 6)
    assert whole.train.images.max() == 1
    assert len(whole.limited(4).train) == 4


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not an idx file of bytes"),
        (b"\0\0\x0d\x01\0\0\0\x01\0\0\0\0", "is not an idx file of bytes"),
        (b"\0\0\x08\x03\0\0", "is damaged"),
        (
            b"\0\0\x08\x01\0\0\0\x03\x01\x02",
            r"is damaged: its 10 bytes do not fit its header, which says \(3,\)",
        ),
        (b"\0\0\x08\x01\0\0\0\x03\x01\x02\x03", r"holds images of shape \(3,\)"),
    ],
)
def test_damaged_idx_files_are_refused(digits: Path, tmp_path: Path, content: bytes, message: str) -> None:
    for name in data.FILES[1:]:
        (tmp_path / name).write_bytes(gzip.decompress((digits / f"{name}.gz").read_bytes()))
    (tmp_path / data.FILES[0]).write_bytes(content)
    with pytest.raises(data.DataError, match=message):
        data.load(tmp_path, seed=0)


def test_a_truncated_gzip_file_is_refused(digits: Path, tmp_path: Path) -> None:
    path = tmp_path / f"{data.FILES[0]}.gz"
    path.write_bytes((digits / path.name).read_bytes()[:-100])
    with pytest.raises(data.DataError, match="cannot be read"):
        data.load(tmp_path, seed=0)
