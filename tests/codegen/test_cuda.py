"""CUDA C++ for every primitive in every dtype is C++ that a compiler understands, given CUDA's words."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from raxis import dtypes
from raxis.codegen import Cuda
from raxis.ptir import PRIMITIVES
from raxis.testing.applications import of_primitive
from tests.codegen.recorder import Recorder, dense

COMPILER = shutil.which("c++")
WORDS = Path(__file__).parent / "cuda_words.h"


def sources() -> list[str]:
    """The kernels of all applications that the conformance kit has."""
    found: dict[str, None] = {}
    for name in PRIMITIVES:
        for dtype in dtypes.ALL:
            for application in of_primitive(name):
                if application.admits(dtype):
                    recorder, program = Recorder(Cuda()), application.program(dtype)
                    recorder.compile(program, *dense(program))
                    found.update(dict.fromkeys(recorder.sources))
    return list(found)


@pytest.mark.slow
@pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler")
def test_all_is_cplusplus(tmp_path: Path) -> None:
    kernels = sources()
    assert len(kernels) > 1000
    spaces = [f"namespace kernel{number} {{\n{_body(text)}\n}}" for number, text in enumerate(kernels)]
    program = tmp_path / "all.cpp"
    program.write_text("\n".join([f'#include "{WORDS}"', Cuda.prelude, *spaces]))
    command = [str(COMPILER), "-fsyntax-only", "-std=c++14", "-w", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]


def _body(text: str) -> str:
    """A source without the prelude; names are free of C linkage, and so may repeat."""
    assert text.startswith(Cuda.prelude)
    return re.sub(r'^extern "C" ', "", text.removeprefix(Cuda.prelude), flags=re.M)
