"""Damaged, partial and hostile checkpoint files."""

from __future__ import annotations

import io
import os
import pickle
import random
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import raxis

REFUSED = (RuntimeError, pickle.UnpicklingError, ValueError)


def saved() -> bytes:
    file = io.BytesIO()
    raxis.save({"weight": raxis.arange(100.0), "more": [1, {"a": raxis.tensor(1)}]}, file)
    return file.getvalue()


def rezipped(edit: Callable[[str, bytes], bytes | None]) -> io.BytesIO:
    source, target = zipfile.ZipFile(io.BytesIO(saved())), io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name in source.namelist():
            edited = edit(name, source.read(name))
            if edited is not None:
                archive.writestr(name, edited)
    target.seek(0)
    return target


def with_pickle(pickled: bytes) -> io.BytesIO:
    return rezipped(lambda name, data: pickled if name.endswith("data.pkl") else data)


def refusal(file: io.BytesIO) -> str:
    """The message of the error, also where damage hit only padding or values."""
    try:
        raxis.load(file)
    except REFUSED as error:
        return str(error)
    return "no error"


def test_damaged_files_are_refused_in_sentences() -> None:
    generator, data = random.Random(0), saved()
    for _ in range(150):
        damaged = bytearray(data)
        if generator.random() < 0.5:
            damaged = damaged[: generator.randrange(len(damaged))]
        for _ in range(generator.randint(0, 6)):
            if damaged:
                damaged[generator.randrange(len(damaged))] = generator.randrange(256)
        assert " " in refusal(io.BytesIO(bytes(damaged)))


def test_damaged_pickles_are_refused_in_sentences() -> None:
    generator = random.Random(1)

    def damage(name: str, data: bytes) -> bytes:
        if not name.endswith("data.pkl"):
            return data
        changed = bytearray(data)
        for _ in range(generator.randint(1, 4)):
            changed[generator.randrange(len(changed))] = generator.randrange(256)
        return bytes(changed)

    for _ in range(150):
        assert " " in refusal(rezipped(damage))


@pytest.mark.parametrize("pickled", [b"", b"\x80\x02]", b"\x80\x02" + b"(" * 10000 + b".", b"\x80\x02jaaaa."])
def test_cut_off_pickles(pickled: bytes) -> None:
    with pytest.raises(pickle.UnpicklingError, match=r"damaged|\w+ \w+"):
        raxis.load(with_pickle(pickled))


class Calling:
    def __init__(self, function: Any, *arguments: Any) -> None:
        self.call = (function, arguments)

    def __reduce__(self) -> Any:
        return self.call


@pytest.mark.parametrize("protocol", [2, 4])
@pytest.mark.parametrize(
    "function", [os.mkdir, eval, exec, subprocess.call, open, getattr, raxis.load, print]
)
def test_calls_are_refused(function: Any, protocol: int, tmp_path: Path) -> None:
    made = tmp_path / "made"
    pickled = pickle.dumps([Calling(function, os.fspath(made))], protocol)
    with pytest.raises(pickle.UnpicklingError):
        raxis.load(with_pickle(pickled))
    assert not made.exists()


def test_missing_and_short_storages() -> None:
    with pytest.raises(RuntimeError, match="not in the archive"):
        raxis.load(rezipped(lambda name, data: None if name.endswith("data/0") else data))
    with pytest.raises(RuntimeError, match="bytes"):
        raxis.load(rezipped(lambda name, data: data[:10] if name.endswith("data/0") else data))


def test_failing_save_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "kept.pt"
    raxis.save(raxis.ones(2), path)
    with pytest.raises(ValueError, match="not today"):
        raxis.save([raxis.zeros(2), _Unpicklable()], path)
    assert raxis.load(path).tolist() == [1.0, 1.0]
    assert [found.name for found in tmp_path.iterdir()] == ["kept.pt"]


def _refuse() -> None:
    raise ValueError("not today")


class _Unpicklable:
    def __reduce__(self) -> Any:
        _refuse()


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="does not exist"):
        raxis.save(raxis.ones(2), tmp_path / "no" / "such" / "file.pt")
    with pytest.raises(AttributeError, match="write"):
        raxis.save(raxis.ones(2), 3)  # type: ignore[arg-type]
    path = tmp_path / "read-only"
    path.touch()
    with path.open("rb") as stream, pytest.raises(io.UnsupportedOperation):
        raxis.save(raxis.ones(2), stream)


def test_failing_load_state_dict_changes_nothing() -> None:
    layer = raxis.nn.Linear(2, 2)
    before = layer.bias.tolist()
    with pytest.raises(RuntimeError, match="size mismatch"):
        layer.load_state_dict({"weight": raxis.ones(3, 3), "bias": raxis.full((2,), 7.0)})
    assert layer.bias.tolist() == before
