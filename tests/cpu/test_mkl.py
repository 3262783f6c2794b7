"""RAXIS_BLAS: MKL where it is installed, a warning and NumPy's BLAS where it is not."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import metadata

import pytest

from raxis_cpu import mkl
from raxis_cpu.blas import numpy_blas

CODE = """
import numpy as np, raxis
from raxis_cpu.mkl import is_mkl, product_blas
random = np.random.default_rng(0)
for dtype in (np.float32, np.float64):
    for m, k, n in ((3, 4, 5), (1, 300, 2000), (150, 160, 170)):
        x, y = random.standard_normal((m, k)).astype(dtype), random.standard_normal((n, k)).astype(dtype)
        found = raxis.from_numpy(x) @ raxis.from_numpy(y).t()
        np.testing.assert_allclose(found.numpy(), x.astype(float) @ y.T, rtol=1e-4, atol=1e-4)
print(is_mkl(product_blas()))
"""


@pytest.fixture(autouse=True)
def _fresh():
    mkl.product_blas.cache_clear()
    yield
    mkl.product_blas.cache_clear()


def test_numpys_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAXIS_BLAS", raising=False)
    assert mkl.product_blas() is numpy_blas()
    assert not mkl.is_mkl(numpy_blas())


def test_other_values_are_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAXIS_BLAS", "mlk")
    with pytest.raises(ValueError, match="RAXIS_BLAS='mlk'"):
        mkl.product_blas()


def test_what_is_not_installed_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setenv("RAXIS_BLAS", "mkl")
    monkeypatch.setattr(metadata, "files", missing)
    with pytest.warns(
        RuntimeWarning, match=r"mkl is not installed. Install it with: pip install 'raxis-cpu\[mkl\]'"
    ):
        assert mkl.product_blas() is numpy_blas()
    assert mkl.product_blas() is numpy_blas()


def test_a_distribution_without_the_library_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAXIS_BLAS", "mkl")
    monkeypatch.setattr(metadata, "files", lambda name: [])
    with pytest.warns(RuntimeWarning, match="has no library mkl_rt"):
        assert mkl.product_blas() is numpy_blas()


@pytest.mark.skipif(
    not any(item.metadata["Name"] == "mkl" for item in metadata.distributions()), reason="needs mkl"
)
@pytest.mark.parametrize("threads", ["1", "2"])
def test_products_by_mkl(threads: str) -> None:
    environment = {**os.environ, "RAXIS_BLAS": "mkl", "RAXIS_CPU": "plugin", "OMP_NUM_THREADS": threads}
    done = subprocess.run(
        [sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.stdout.strip(), done.returncode) == ("True", 0), done.stderr
