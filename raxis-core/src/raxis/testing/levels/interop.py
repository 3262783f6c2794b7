"""Tensors come and go: other devices, NumPy, DLPack, files, pickles, and what is printed."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np

import raxis
from raxis import dtypes
from raxis.testing.case import Case, Skipped, Subject, named, require

LEVEL = "interop"

_INTEGER: Any = dtypes.int32
_ARRAY = np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 4


def _tensor(subject: Subject) -> raxis.Tensor:
    return raxis.tensor(_ARRAY.tolist(), device=subject.name)


def _same(found: raxis.Tensor, expected: np.ndarray, what: str) -> None:
    array = found.detach().cpu().numpy()
    require(
        array.dtype == expected.dtype and np.array_equal(array, expected),
        f"{what}: got {array}, expected {expected}.",
    )


def _transfer(subject: Subject) -> None:
    """To and from cpu: views, every dtype the device has, conversions on the way."""
    x = _tensor(subject)
    _same(x, _ARRAY, "a tensor and back")
    for what, view, expected in (
        ("a transposed view", x.transpose(0, 2), _ARRAY.transpose(2, 1, 0)),
        ("a strided view", x[:, 1:, ::2], _ARRAY[:, 1:, ::2]),
        ("an expanded view", x[:1].expand(3, 3, 4), np.broadcast_to(_ARRAY[:1], (3, 3, 4))),
        ("an empty view", x[2:], _ARRAY[2:]),
        ("a number", x[1, 2, 3], _ARRAY[1, 2, 3]),
    ):
        _same(view, np.asarray(expected), f"{what} moved to cpu")
        _same(view.cpu().to(subject.name), np.asarray(expected), f"{what} moved to cpu and back")
    _same(x.cpu().permute(2, 0, 1).to(subject.name), _ARRAY.transpose(2, 0, 1), "a view from cpu")
    target = raxis.zeros(2, 3, 4, device=subject.name)
    target[:, 1] = x.cpu()[:, 1]
    require(
        target.sum().item() == _ARRAY[:, 1].sum(), "assigning a tensor of cpu to a part gave other numbers."
    )
    target.copy_(raxis.tensor(_ARRAY.astype(int).tolist()))
    _same(target, np.trunc(_ARRAY), "copy_ of an integer tensor of cpu")


def _dtypes(subject: Subject) -> None:
    """Bytes of every dtype move unchanged, whether or not the device computes with it."""
    for dtype in dtypes.ALL:
        array = np.array([0, 1, 3, 2]).astype(dtype.numpy)
        moved = raxis.tensor([0, 1, 3, 2], dtype=dtype).to(subject.name)
        require(moved.dtype is dtype, f"a tensor of {dtype} became {moved.dtype} on {subject.name}.")
        require(
            moved.cpu().tolist() == array.tolist(),
            f"elements of {dtype} changed on the way: {moved.cpu().tolist()}.",
        )


def _numpy(subject: Subject) -> None:
    x = _tensor(subject)
    require(
        x.tolist() == _ARRAY.tolist() and x[1, 2, 3].item() == 5.75, "tolist() or item() gave other numbers."
    )
    _same(raxis.from_numpy(_ARRAY.copy()).to(subject.name), _ARRAY, "from_numpy(...).to(device)")
    if subject.type != "cpu":
        try:
            x.numpy()
        except (TypeError, RuntimeError) as error:
            require("cpu" in str(error), f"numpy() of a device tensor must say what to do, not {error}.")
        else:
            require(False, "numpy() of a tensor that is not on cpu must raise TypeError.")
    require(
        bool((x == x.clone()).all()) and int(x[0, 0, 1] * 4) == 1,
        "bool() or int() of a device tensor is wrong.",
    )


def _dlpack(subject: Subject) -> None:
    x = _tensor(subject)
    try:
        found = raxis.from_dlpack(x)
    except (BufferError, RuntimeError, TypeError) as error:
        raise Skipped(f"tensors of the device are not exported: {error}") from None
    _same(found, _ARRAY, "from_dlpack of a device tensor")


def _printing(subject: Subject) -> None:
    x = raxis.tensor([[1.0, 2.5], [float("nan"), -1.0]], device=subject.name)
    plain = repr(x.cpu())
    device = "" if subject.type == "cpu" else f", device='{x.device}'"
    require(repr(x) == f"{plain[:-1]}{device})", f"a tensor is printed as {x!r}.")
    require("requires_grad" in repr(x.requires_grad_()), "requires_grad is not printed.")


def _saved(subject: Subject) -> None:
    """Files and pickles, on the same device, on cpu, and with shared storages."""
    x = _tensor(subject)
    file = io.BytesIO()
    raxis.save({"x": x, "part": x[1], "number": 3}, file)
    for location in (None, "cpu", subject.name):
        file.seek(0)
        loaded = raxis.load(file, map_location=location)
        _same(loaded["x"], _ARRAY, f"a loaded tensor, map_location={location}")
        expected = "cpu" if location == "cpu" else subject.type
        require(
            loaded["part"].device.type == expected, f"map_location={location} gave {loaded['part'].device}."
        )
        loaded["x"].zero_()
        require(loaded["part"].sum().item() == 0, "tensors that shared memory do not share it after loading.")
    _same(pickle.loads(pickle.dumps(x[:, 1])), _ARRAY[:, 1], "a pickled view")
    copied = copy.deepcopy(x)
    copied.zero_()
    _same(x, _ARRAY, "a tensor whose deep copy was overwritten")


def _subscripts(subject: Subject) -> None:
    x, array = _tensor(subject), _ARRAY.copy()
    x[0, 1] = 9
    array[0, 1] = 9
    x[x > 5] = -1
    array[array > 5] = -1
    x[:, :, 1] += 2
    array[:, :, 1] += 2
    index = raxis.tensor([2, 0], device=subject.name)
    x[1, index] = raxis.ones(2, 4, device=subject.name)
    array[1, [2, 0]] = 1
    _same(x, array, "a tensor after assignments to parts")
    _same(x[x < 0], array[array < 0], "elements chosen by a mask")
    _same(x[:, index], array[:, [2, 0]], "elements chosen by an index")
    found = (x < 0).nonzero().cpu().numpy()
    require(np.array_equal(found, np.argwhere(array < 0)), f"nonzero() gave {found}.")


def _views(subject: Subject) -> None:
    """Writes through views reach the base, and bytes are seen as another dtype."""
    x = raxis.zeros(4, 4, device=subject.name)
    x[1:3].t()[0].fill_(5)
    x.diagonal().add_(1)
    expected = np.eye(4, dtype=np.float32)
    expected[1:3, 0] += 5
    _same(x, expected, "a tensor written through its views")
    _same(x[1].view(_INTEGER), expected[1].view(np.int32), "floats seen as integers")


def cases() -> Iterator[Case]:
    """Cases of coming and going."""
    yield from named(
        LEVEL,
        {
            "transfer": _transfer,
            "dtypes": _dtypes,
            "numpy": _numpy,
            "dlpack": _dlpack,
            "printing": _printing,
            "saved": _saved,
            "subscripts": _subscripts,
            "views": _views,
        },
    )
