"""Built-in functions from machine code: PyCFunction objects whose `self` is a bytes object of parameters."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence

_METH_FASTCALL = 0x80

PAYLOAD = bytes.__basicsize__ - 1
"""Where a bytes object keeps its bytes."""
ARRAY_DATA = object.__basicsize__
"""Where a NumPy array keeps the address of its data: the first field after the object's head (NumPy's stable ABI)."""


class MethodDefinition(ctypes.Structure):
    """PyMethodDef of a METH_FASTCALL function."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def method_definition(name: str, address: int) -> MethodDefinition:
    """The definition of the function at `address`."""
    return MethodDefinition(name.encode(), address, _METH_FASTCALL, None)


def built_in(definition: MethodDefinition, numbers: Sequence[int], owner: object) -> Callable[..., None]:
    """A built-in that finds `numbers` as int64 in its `self`.

    It keeps `owner`, which must hold the definition and the code, alive as the module that it is said to come from.
    """
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]
    payload = struct.pack(f"<{len(numbers)}q", *numbers)
    found: Callable[..., None] = new(ctypes.addressof(definition), payload, owner)
    return found
