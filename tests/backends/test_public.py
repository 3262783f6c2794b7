"""`raxis.backends` and `raxis.cuda` as users call them, in the environment the tests run in."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

import raxis.backends
import raxis.cuda
from raxis.backends.states import State
from raxis.device import Device

GPU = pytest.mark.skipif(raxis.cuda.is_available(), reason="this machine has a usable GPU")


def test_list_names_the_built_in_devices() -> None:
    rows = raxis.backends.list()
    assert {"cpu", "meta"} <= {row.device for row in rows}
    assert [row.distribution for row in rows if row.device == "meta"] == ["raxis-core"]
    assert {type(row.state) for row in rows} == {State}


def test_cpu_and_meta_are_available() -> None:
    for name in ("cpu", "cpu:0", "meta", Device("cpu")):
        assert raxis.backends.is_available(name)
        assert raxis.backends.unavailable_reason(name) is None
        assert raxis.backends.get(name).device_count() == 1
    assert raxis.backends.device_count("cpu") == 1


@pytest.mark.parametrize("name", ["cpu:1", "nonesuch", "nonesuch:3"])
def test_unavailable_device_has_a_reason_which_get_raises(name: str) -> None:
    assert not raxis.backends.is_available(name)
    with pytest.raises(raxis.backends.BackendError) as caught:
        raxis.backends.get(name)
    assert str(caught.value) == raxis.backends.unavailable_reason(name)
    assert isinstance(caught.value, RuntimeError)


def test_refresh_keeps_devices_in_use() -> None:
    backend = raxis.backends.get("cpu")
    raxis.backends.refresh()
    assert raxis.backends.get("cpu") is backend


@GPU
def test_cuda_is_asked_politely_without_a_gpu() -> None:
    assert raxis.cuda.device_count() == 0
    reason = raxis.cuda.unavailable_reason()
    assert reason
    for ask in (raxis.cuda.synchronize, raxis.cuda.memory_stats, raxis.cuda.get_device_name):
        with pytest.raises(RuntimeError) as caught:
            ask()
        assert str(caught.value) == reason
    raxis.cuda.empty_cache()


def test_cuda_functions_refuse_other_devices() -> None:
    with pytest.raises(ValueError, match="Expected a cuda device, but got: cpu"):
        raxis.cuda.synchronize("cpu")


def test_device_of_an_absent_plugin_can_be_pickled_and_raises_only_when_used() -> None:
    data = pickle.dumps(Device("nonesuch:2"))
    code = (
        f"import pickle, raxis.backends as b; d = pickle.loads({data!r}); print(d); print(b.is_available(d))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["nonesuch:2", "False"]
