"""IR text to object code for this machine, and object code to addresses.

The two halves are apart so that object code can be kept on disk. It refers to no symbol outside itself but what
every C runtime has: the rest is reached through the runtime table (see `entry`).
"""

from __future__ import annotations

import os
from functools import lru_cache
from itertools import count
from typing import NamedTuple

import llvmlite.binding as llvm

from raxis_cpu.cache import object_code

_lock = llvm.ffi.lib._lock
"""llvmlite's lock, taken for several calls at once: one of our own beside it could be taken in the other order."""
if hasattr(os, "register_at_fork"):
    # A forked child must not find another thread in the middle of LLVM.
    os.register_at_fork(before=_lock.__enter__, after_in_parent=_lock.__exit__, after_in_child=_lock.__exit__)


class Target(NamedTuple):
    """What code is generated for; the key of any cache of object code."""

    triple: str
    cpu: str
    features: str
    llvm_version: tuple[int, ...]

    @property
    def vector_bytes(self) -> int:
        """Width of the vector registers."""
        enabled = set(self.features.split(","))
        if {"+avx512f", "+avx512bw", "+avx512vl", "+avx512dq"} <= enabled:
            return 64
        return 32 if "+avx2" in enabled else 16

    @property
    def has_masks(self) -> bool:
        """Whether parts of registers are loaded and stored in one instruction."""
        return self.vector_bytes == 64


@lru_cache(maxsize=1)
def host() -> Target:
    """This machine."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features().flatten()
    return Target(
        llvm.get_process_triple(), llvm.get_host_cpu_name(), features, tuple(llvm.llvm_version_info)
    )


@lru_cache(maxsize=4)
def _machine(target: Target) -> llvm.TargetMachine:
    return _new_machine(target)


def _new_machine(target: Target) -> llvm.TargetMachine:
    found = llvm.Target.from_triple(target.triple)
    return found.create_target_machine(
        cpu=target.cpu, features=target.features, opt=2, reloc="pic", codemodel="small", jit=True
    )


def compile(ir: str, target: Target) -> bytes:
    """Object code of a module's text, from the cache on disk if it is there.

    Raises:
        RuntimeError: if LLVM refuses the text.
    """
    return object_code(ir, target, lambda: emit(ir, target))


def emit(ir: str, target: Target) -> bytes:
    """Object code of a module's text, compiled now.

    Raises:
        RuntimeError: if LLVM refuses the text.
    """
    with _lock:
        machine = _machine(target)
        module = llvm.parse_assembly(ir)
        _optimise(module, machine)
        code: bytes = machine.emit_object(module)
    return code


def assembly(ir: str, target: Target) -> str:
    """The machine instructions, as text, for inspection."""
    with _lock:
        machine = _machine(target)
        module = llvm.parse_assembly(ir)
        _optimise(module, machine)
        text: str = machine.emit_assembly(module)
    return text


_PASSES = (
    "sroa",
    "simplify_cfg",
    "instruction_combine",
    "loop_rotate",
    "new_gvn",
    "aggressive_dce",
    "instruction_combine",
    "simplify_cfg",
)
"""Kernels are written as vectors already; a whole pipeline finds little more in them, at eight times the cost."""


def _optimise(module: llvm.ModuleRef, machine: llvm.TargetMachine) -> None:
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    manager = llvm.create_new_module_pass_manager()
    for name in _PASSES:
        getattr(manager, f"add_{name}_pass")()
    manager.run(module, llvm.create_pass_builder(machine, options))


@lru_cache(maxsize=1)
def _linker() -> llvm.LLJIT:
    return llvm.create_lljit_compiler(_new_machine(host()))


_numbers = count()


class Code:
    """Loaded object code; it stays in memory as long as this object."""

    def __init__(self, image: bytes) -> None:
        self._name = f"code{next(_numbers)}"
        with _lock:
            builder = llvm.JITLibraryBuilder().add_object_img(image)
            self._library = builder.link(_linker(), self._name)

    def address(self, name: str) -> int:
        """Where a function is.

        Raises:
            RuntimeError: if there is none of this name, or it cannot be linked.
        """
        with _lock:
            found = _linker().lookup(self._name, name)
            address: int = found[name]
            # It would unload the whole library when it goes.
            found.detach()
        return address
