"""Saving and loading objects with tensors, in the zip format that PyTorch writes and reads."""

from __future__ import annotations

import io
import os
import pickle
import sys
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from raxis.copying import saved_place, storage_bytes
from raxis.device import Device
from raxis.placement import as_device, place_of
from raxis.serialization.archive import Reader, Writer, replacing
from raxis.serialization.reading import RestrictedUnpickler, TrustingUnpickler
from raxis.serialization.writing import CheckpointPickler
from raxis.storage import Storage, allocate, storage_from_bytes

__all__ = ["load", "save"]

MapLocation = Device | str | Mapping[str, str] | Callable[[Storage, str], "Storage | None"] | None


def save(obj: Any, f: str | os.PathLike[str] | IO[bytes], pickle_protocol: int = 2) -> None:
    """Write an object to a file that `raxis.load` and PyTorch's ``torch.load`` read.

    Tensors may be anywhere in it; those that share memory still do after loading. A file is written beside its final
    name and renamed at the end, so that an interrupted save leaves the old one.

    Args:
        obj: tensors, state dictionaries, containers, numbers and strings; with other objects the file needs
            ``weights_only=False`` to be loaded.
        f: path, or a binary file object.
        pickle_protocol: version of the pickle inside; PyTorch's restricted loader reads 2.

    Raises:
        RuntimeError: if tensors of different dtypes share memory, or the directory does not exist.
        AttributeError: if `f` is neither a path nor a file.

    Example:
        >>> import io
        >>> import raxis
        >>> file = io.BytesIO()
        >>> raxis.save({"weight": raxis.ones(2)}, file)
        >>> _ = file.seek(0)
        >>> raxis.load(file)
        {'weight': tensor([1., 1.])}
    """
    if isinstance(f, (str, os.PathLike)):
        path = Path(f)
        if not path.parent.is_dir():
            raise RuntimeError(f"Parent directory {path.parent} does not exist.")
        with replacing(path) as stream:
            _write(obj, stream, path.stem, pickle_protocol)
    elif not hasattr(f, "write"):
        raise AttributeError(
            "expected 'f' to be a path, or a file-like object with a 'write' attribute, but got "
            f"{type(f).__name__}."
        )
    else:
        _write(obj, f, "archive", pickle_protocol)


def _write(obj: Any, stream: IO[bytes], root: str, protocol: int) -> None:
    pickled = io.BytesIO()
    pickler = CheckpointPickler(pickled, protocol)
    pickler.dump(obj)
    with Writer(stream, root) as archive:
        archive.add("data.pkl", pickled.getvalue())
        archive.add(".format_version", b"1")
        archive.add(".storage_alignment", b"64")
        archive.add("byteorder", sys.byteorder.encode())
        for key, storage in pickler.storages.items():
            archive.add(f"data/{key}", storage_bytes(storage).data)
        archive.add("version", b"3\n")


def load(
    f: str | os.PathLike[str] | IO[bytes],
    map_location: MapLocation = None,
    *,
    weights_only: bool = True,
    mmap: bool | None = None,
) -> Any:
    """Read an object from a file that `raxis.save` or PyTorch's ``torch.save`` wrote.

    Args:
        f: path, or a binary file object that can seek.
        map_location: where tensors go: a device for all, a mapping from saved to new device names, or a function of
            (storage, saved name) that returns a storage or None; default: where they were.
        weights_only: build tensors, containers and numbers only. False runs code that the file names: do it only
            with files you trust.
        mmap: with a path, map the file instead of reading it; tensors are read when used, writes stay private.

    Raises:
        RuntimeError: if the file is no checkpoint, or a saved device cannot be used.
        pickle.UnpicklingError: if the file needs something that `weights_only` refuses.

    Example:
        >>> import io
        >>> import raxis
        >>> file = io.BytesIO()
        >>> raxis.save([raxis.ones(2), 5], file)
        >>> _ = file.seek(0)
        >>> raxis.load(file, map_location="cpu")
        [tensor([1., 1.]), 5]
    """
    path = Path(f) if isinstance(f, (str, os.PathLike)) else None
    if mmap and path is None:
        raise ValueError("mmap=True needs the path of a file, but got a file object.")
    archive = Reader(f if path is None else path, path if mmap else None)
    try:
        pickled, storages = io.BytesIO(archive.read("data.pkl")), Storages(archive, map_location)
        return _restored(pickled, storages) if weights_only else TrustingUnpickler(pickled, storages).load()
    except zipfile.BadZipFile as error:
        raise RuntimeError(f"the checkpoint is damaged: {error}.") from error
    finally:
        archive.close()


_OF_DAMAGED_PICKLES = (
    AttributeError, EOFError, LookupError, MemoryError, OverflowError, RecursionError, TypeError, UnicodeError
)  # fmt: skip


def _restored(pickled: io.BytesIO, storages: Storages) -> Any:
    """What the restricted loader makes of a pickle, whose damages show as any of several exceptions."""
    try:
        return RestrictedUnpickler(pickled, storages).load()
    except _OF_DAMAGED_PICKLES as error:
        raise pickle.UnpicklingError(
            f"the pickle in the checkpoint is damaged: {type(error).__name__}: {error}"
        ) from error


class Storages:
    """The storages of an archive, each loaded once and moved to where `map_location` says."""

    def __init__(self, archive: Reader, map_location: MapLocation) -> None:
        self._archive = archive
        self._map_location = map_location
        self._loaded: dict[str, Storage] = {}
        order = archive.read("byteorder", sys.byteorder.encode()).decode()
        if order != sys.byteorder:
            raise RuntimeError(
                f"the checkpoint is {order}-endian and this machine is {sys.byteorder}-endian."
            )

    def __call__(self, key: str, location: str, nbytes: int) -> Storage:
        """The storage saved under `key` on device `location`."""
        found = self._loaded.get(key)
        if found is None:
            found = self._loaded[key] = self._load(key, location, nbytes)
        return found

    def _load(self, key: str, location: str, nbytes: int) -> Storage:
        name = f"data/{key}"
        if self._archive.size(name) != nbytes:
            raise RuntimeError(
                f"{name} has {self._archive.size(name)} bytes, but the checkpoint speaks of {nbytes}."
            )
        choose = self._map_location
        if callable(choose) and not isinstance(choose, Device):
            placed = self._read(name, nbytes, Device("cpu"))
            return choose(placed, location) or self._moved(placed, _usable(location))
        if isinstance(choose, Mapping):
            choose = choose.get(location)
        return self._read(name, nbytes, _usable(location) if choose is None else as_device(choose))

    def _moved(self, storage: Storage, device: Device) -> Storage:
        if storage.place.device is device:
            return storage
        return storage_from_bytes(storage_bytes(storage), place_of(device))

    def _read(self, name: str, nbytes: int, device: Device) -> Storage:
        place = place_of(device)
        mapped = self._archive.map(name)
        if mapped is not None:
            buffer = place.backend.wrap_host(mapped)
            if buffer is not None:
                return Storage.over(buffer, nbytes, place)
        storage = allocate(nbytes, place)
        memory = place.backend.host_view(storage.buffer)
        target = np.empty(nbytes, np.uint8) if memory is None else memory[:nbytes]
        self._archive.fill(name, target)
        if memory is None:
            place.backend.copy_from_host(target, storage.buffer, 0)
        return storage


def _usable(location: str) -> Device:
    """The device that tensors were saved from.

    Raises:
        RuntimeError: if it cannot be used here.
    """
    remedy = "Load it with map_location='cpu' to get them in host memory."
    return saved_place(location, "the checkpoint has tensors", remedy).device
