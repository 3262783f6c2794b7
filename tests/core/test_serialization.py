"""Checkpoints: our files in torch, torch's files here, and damaged or hostile ones."""

from __future__ import annotations

import io
import pickle
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import raxis
from raxis import dtypes
from tests.parity.bridge import tensor_to_torch, to_torch


def roundtrip(value: Any, **options: Any) -> Any:
    file = io.BytesIO()
    raxis.save(value, file)
    file.seek(0)
    return raxis.load(file, **options)


def into_torch(value: Any) -> Any:
    file = io.BytesIO()
    raxis.save(value, file)
    file.seek(0)
    return torch.load(file, weights_only=True)


def from_torch(value: Any, **options: Any) -> Any:
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return raxis.load(file, **options)


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=repr)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3)])
def test_every_dtype_goes_both_ways(dtype: dtypes.DType, shape: tuple[int, ...]) -> None:
    ours = raxis.zeros(shape, dtype=dtype)
    ours.fill_(1)
    theirs = into_torch(ours)
    torch.testing.assert_close(theirs, torch.ones(shape, dtype=getattr(torch, dtype.name)))
    again = from_torch(theirs)
    assert again.dtype is dtype
    torch.testing.assert_close(tensor_to_torch(again), theirs)


CONTENT = {
    "numbers": [1, -5, 2**40, 2**70, 1.5, float("inf"), 2 + 3j, True, None],
    "text": "päth",
    "bytes": b"\x00\xff",
    "tuple": (1, (2, [3])),
    "ordered": OrderedDict(a=1, b=2),
    "set": {1, 2},
    3: "integer key",
}


def test_containers_go_both_ways() -> None:
    assert roundtrip(CONTENT) == CONTENT
    assert into_torch(CONTENT) == CONTENT
    assert from_torch(CONTENT) == CONTENT


def test_sizes_dtypes_and_devices() -> None:
    value = {"size": raxis.Size([2, 3]), "dtype": raxis.bfloat16, "device": raxis.device("cuda:1")}
    found = into_torch(value)
    assert found == {"size": torch.Size([2, 3]), "dtype": torch.bfloat16, "device": torch.device("cuda:1")}
    again = roundtrip(value)
    assert again == value
    assert isinstance(again["size"], raxis.Size)


def test_tied_storages_stay_tied() -> None:
    base = raxis.arange(6.0)
    loaded = roundtrip({"base": base, "view": base.view(2, 3), "same": base})
    assert loaded["base"] is loaded["same"]
    loaded["view"].zero_()
    assert loaded["base"].tolist() == [0.0] * 6
    theirs = into_torch([base, base.view(2, 3).t()])
    theirs[0].zero_()
    assert theirs[1].sum() == 0
    assert theirs[1].stride() == (1, 3)
    base = torch.arange(6.0)
    loaded = from_torch([base, base[2:]])
    loaded[0].fill_(7)
    assert loaded[1].tolist() == [7.0] * 4


def test_requires_grad_is_kept() -> None:
    loaded = roundtrip([raxis.ones(2, requires_grad=True), raxis.ones(2)])
    assert [tensor.requires_grad for tensor in loaded] == [True, False]
    assert into_torch(raxis.ones(2, requires_grad=True)).requires_grad


def test_meta_tensors() -> None:
    assert roundtrip(raxis.ones(2, 3, device="meta")).shape == (2, 3)
    assert into_torch(raxis.ones(2, 3, device="meta")).is_meta
    assert from_torch(torch.ones(2, 3, device="meta")).is_meta


def test_state_dict_of_torch_and_back() -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    model(torch.randn(5, 3)).sum().backward()
    optimizer.step()
    saved = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "parameter": next(model.parameters()),
    }
    loaded = from_torch(saved)
    assert loaded["model"]._metadata == saved["model"]._metadata
    assert isinstance(loaded["parameter"], raxis.nn.Parameter)
    assert loaded["optimizer"]["param_groups"] == saved["optimizer"]["param_groups"]
    again = into_torch(loaded)
    assert again["model"]._metadata == saved["model"]._metadata
    assert isinstance(again["parameter"], torch.nn.Parameter)
    for name, value in saved["model"].items():
        torch.testing.assert_close(to_torch(loaded["model"][name]), value)
        torch.testing.assert_close(again["model"][name], value)
    for index, state in saved["optimizer"]["state"].items():
        for name, value in state.items():
            torch.testing.assert_close(again["optimizer"]["state"][index][name], value)


@pytest.mark.parametrize(
    "location",
    [
        "meta",
        raxis.device("meta"),
        {"cpu": "meta"},
        lambda storage, name: raxis.empty(8, device="meta")._storage,
    ],
)
def test_map_location(location: Any) -> None:
    assert roundtrip(raxis.ones(2), map_location=location).device == raxis.device("meta")


def test_map_location_function_may_decline() -> None:
    seen = []
    loaded = roundtrip(raxis.ones(2), map_location=lambda storage, name: seen.append(name))
    assert loaded.tolist() == [1.0, 1.0]
    assert seen == ["cpu"]


def test_unusable_device_is_named(tmp_path: Path) -> None:
    path = tmp_path / "other.pt"
    raxis.save(raxis.ones(2), path)
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    entries["other/data.pkl"] = entries["other/data.pkl"].replace(
        b"X\x03\x00\x00\x00cpu", b"X\x05\x00\x00\x00nodev"
    )
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    with pytest.raises(RuntimeError, match=r"nodev.*map_location='cpu'"):
        raxis.load(path)
    assert raxis.load(path, map_location="cpu").tolist() == [1.0, 1.0]


def test_files_are_aligned_and_named_as_torch_does(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    raxis.save({"a": raxis.ones(3), "b": raxis.ones(5)}, path)
    raw = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        assert {"model/data.pkl", "model/version", "model/byteorder", "model/data/0", "model/data/1"} <= set(
            archive.namelist()
        )
        assert archive.testzip() is None
        for info in archive.infolist():
            lengths = np.frombuffer(raw, "<u2", 2, info.header_offset + 26)
            assert (info.header_offset + 30 + lengths.sum()) % 64 == 0
    assert torch.load(path, weights_only=True, mmap=True)["b"].tolist() == [1.0] * 5


def test_memory_mapped_tensors_are_private(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    raxis.save({"a": raxis.ones(3)}, path)
    loaded = raxis.load(path, mmap=True)
    loaded["a"].fill_(5)
    assert loaded["a"].tolist() == [5.0] * 3
    assert raxis.load(path)["a"].tolist() == [1.0] * 3
    with pytest.raises(ValueError, match="path"):
        raxis.load(io.BytesIO(path.read_bytes()), mmap=True)


def test_a_failed_save_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    raxis.save(1, path)
    with pytest.raises((AttributeError, pickle.PicklingError)):
        raxis.save(lambda: None, path)
    assert raxis.load(path) == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.pt"]


def test_one_storage_with_two_dtypes_is_refused() -> None:
    storage = raxis.ones(2)
    other = raxis.zeros(2, dtype=raxis.int32)
    other._storage = storage._storage
    with pytest.raises(RuntimeError, match="view the same data as different types"):
        roundtrip([storage, other])


class Payload:
    def __reduce__(self) -> Any:
        return print, ("ran code",)


def test_code_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    file = io.BytesIO()
    raxis.save(Payload(), file)
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError, match=r"builtins\.print.*weights_only=False"):
        raxis.load(file)
    assert capsys.readouterr().out == ""
    file.seek(0)
    raxis.load(file, weights_only=False)
    assert capsys.readouterr().out == "ran code\n"


def hostile(instructions: bytes) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02" + instructions + b".")
        archive.writestr("archive/byteorder", "little")
        archive.writestr("archive/data/0", bytes(8))
    file.seek(0)
    return file


REFERENCE = b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x02tQ"


@pytest.mark.parametrize(
    "instructions",
    [
        b"ctorch\nfloat32\n}X\x08\x00\x00\x00itemsizeK\x01sb",  # attributes of a dtype
        b"ctorch\nTensor\n)\x81",  # an object without its constructor
        b"ctorch\nTensor\n}X\x01\x00\x00\x00aK\x01sb",  # attributes of a class
        b"X\x01\x00\x00\x00aQ",  # a reference that is none
        b"cos\nsystem\nX\x02\x00\x00\x00ls\x85R",
    ],
)
def test_hostile_pickles_are_refused(instructions: bytes) -> None:
    with pytest.raises(pickle.UnpicklingError):
        raxis.load(hostile(instructions))
    assert raxis.float32.itemsize == 4


@pytest.mark.parametrize(
    ("offset", "size"), [(b"K\x01", b"K\x02"), (b"K\x00", b"K\xff"), (b"J\xff\xff\xff\xff", b"K\x01")]
)
def test_tensors_cannot_reach_beyond_their_storage(offset: bytes, size: bytes) -> None:
    build = b"ctorch._utils\n_rebuild_tensor_v2\n(" + REFERENCE + offset + size + b"\x85K\x01\x85\x89}tR"
    with pytest.raises(ValueError, match="tensor of shape"):
        raxis.load(hostile(build))


def test_wrong_files() -> None:
    with pytest.raises(RuntimeError, match="no zip archive"):
        raxis.load(io.BytesIO(b"not a checkpoint"))
    empty = io.BytesIO()
    with zipfile.ZipFile(empty, "w") as archive:
        archive.writestr("a", "b")
    with pytest.raises(RuntimeError, match=r"expected one data\.pkl"):
        raxis.load(empty)
    legacy = io.BytesIO()
    torch.save(torch.ones(2), legacy, _use_new_zipfile_serialization=False)
    with pytest.raises(RuntimeError, match=r"before version 1\.6"):
        raxis.load(legacy)


def test_truncated_storage_is_refused() -> None:
    file = hostile(
        b"ctorch._utils\n_rebuild_tensor_v2\n("
        + REFERENCE.replace(b"K\x02tQ", b"K\x03tQ")
        + b"K\x00K\x02\x85K\x01\x85\x89}tR"
    )
    with pytest.raises(RuntimeError, match="has 8 bytes"):
        raxis.load(file)


def test_models_and_optimizers_move_between_the_libraries(seed: int) -> None:
    torch.manual_seed(seed)
    ours, theirs = raxis.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    optimizers = [raxis.optim.Adam(ours.parameters(), lr=0.1), torch.optim.Adam(theirs.parameters(), lr=0.1)]
    inputs = np.arange(12, dtype=np.float32).reshape(4, 3)
    ours(raxis.from_numpy(inputs)).pow(2).sum().backward()
    optimizers[0].step()
    saved = into_torch({"model": ours.state_dict(), "optimizer": optimizers[0].state_dict()})
    theirs.load_state_dict(saved["model"])
    optimizers[1].load_state_dict(saved["optimizer"])
    back = from_torch({"model": theirs.state_dict(), "optimizer": optimizers[1].state_dict()})
    ours.load_state_dict(back["model"])
    optimizers[0].load_state_dict(back["optimizer"])
    for model, optimizer, library in ((ours, optimizers[0], raxis), (theirs, optimizers[1], torch)):
        optimizer.zero_grad()
        model(library.from_numpy(inputs)).pow(2).sum().backward()
        optimizer.step()
    for our_parameter, their_parameter in zip(ours.parameters(), theirs.parameters(), strict=True):
        np.testing.assert_allclose(
            our_parameter.detach().numpy(), their_parameter.detach().numpy(), rtol=1e-5, atol=1e-6
        )


def test_whole_modules_need_trust() -> None:
    file = io.BytesIO()
    module = raxis.nn.Linear(2, 2)
    raxis.save(module, file)
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError, match="weights_only=False"):
        raxis.load(file)
    file.seek(0)
    loaded = raxis.load(file, weights_only=False)
    assert loaded.weight.tolist() == module.weight.tolist()
    assert isinstance(loaded.weight, raxis.nn.Parameter)
