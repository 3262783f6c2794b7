"""Plugins: found by metadata, loaded once at first use, broken ones kept apart."""

from __future__ import annotations

import threading
import traceback
import warnings
from typing import Any

import pytest

from raxis.backends import messages
from raxis.backends.states import Row, State
from raxis.device import Device
from raxis.errors import BackendError

FOO = Device("foo")


def row(registry: Any, distribution: str) -> Row:
    [found] = [each for each in registry.rows() if each.distribution == distribution]
    return found


def refused(registry: Any, device: str = "foo") -> BackendError:
    with pytest.raises(BackendError) as caught:
        registry.resolve(Device(device))
    return caught.value


# --- a good plugin ---


def test_good_plugin_is_loaded_at_first_use_and_only_once(fakes) -> None:
    module = fakes.install("raxis-foo")
    registry = fakes.registry()
    assert row(registry, "raxis-foo") == ("foo", "raxis-foo", "1.0", State.FOUND, "")
    assert fakes.imports(module) == 0
    backend, index = registry.resolve(FOO)
    assert index == 0
    assert registry.resolve(FOO)[0] is backend
    assert registry.resolve(Device("foo:1")) == (backend, 1)
    assert fakes.imports(module) == 1
    assert row(registry, "raxis-foo").state is State.READY
    assert registry.device_count("foo") == 2


def test_ready_plugin_may_say_what_it_lacks(fakes) -> None:
    source = fakes.good.replace(
        "class Fake(Backend):", "class Fake(Backend):\n        deferred_reason = 'no compiler'"
    )
    fakes.install("raxis-foo", source=source)
    registry = fakes.registry()
    registry.resolve(FOO)
    assert row(registry, "raxis-foo")[3:] == (State.READY, "no compiler")


def test_threads_load_a_plugin_once(fakes) -> None:
    slow = "import time\ntime.sleep(0.05)\nloads = []\n"
    from_good = "def load():\n    loads.append(1)\n    return make()\n"
    source = slow + fakes.good.replace("def load():", "def make():") + from_good
    module = fakes.install("raxis-foo", source=source)
    registry, barrier, results = fakes.registry(), threading.Barrier(8), []

    def use() -> None:
        barrier.wait()
        results.append(registry.resolve(FOO))

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8
    assert len({id(backend) for backend, _ in results}) == 1
    assert fakes.imports(module) == 1
    assert __import__(module).loads == [1]


def test_index_out_of_range_says_how_many_devices_there_are(fakes) -> None:
    fakes.install("raxis-foo")
    error = refused(fakes.registry(), "foo:2")
    assert str(error) == "Device 'foo:2' does not exist: there are 2 devices, foo:0 to foo:1."


def test_device_without_devices_is_unavailable(fakes) -> None:
    fakes.install("raxis-foo", source=fakes.good.replace("return 2", "return 0"))
    assert refused(fakes.registry()).state == State.UNAVAILABLE


# --- broken plugins ---

BROKEN = {
    "import error": ("import no_such_module_at_all", "importing", "ModuleNotFoundError: No module named"),
    "syntax error": ("def broken(:", "importing", "SyntaxError"),
    "exit": ("import sys; sys.exit(3)", "importing", "SystemExit: 3"),
    "no load": ("API = (1, 0)\ndef probe(): return None", "does not define load()", ""),
    "no api": ("def probe(): return None\ndef load(): return None", "does not define API", ""),
    "probe raises": (
        "API = (1, 0)\ndef probe(): 1 / 0\ndef load(): ...",
        "probe() raised",
        "ZeroDivisionError",
    ),
    "probe returns a number": (
        "API = (1, 0)\ndef probe(): return 7\ndef load(): ...",
        "probe() returned 7",
        "",
    ),
    "load raises": (
        "API = (1, 0)\ndef probe(): return None\ndef load(): raise OSError('libfoo.so: cannot open')",
        "load() raised",
        "OSError: libfoo.so: cannot open",
    ),
    "load exits": (
        "API = (1, 0)\ndef probe(): return None\ndef load(): raise SystemExit",
        "load() raised",
        "SystemExit",
    ),
    "load returns no backend": (
        "API = (1, 0)\ndef probe(): return None\ndef load(): return 'foo'",
        "load() returned str",
        "",
    ),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_plugin_fails_with_its_reason_only_when_named(fakes, kind: str) -> None:
    source, step, detail = BROKEN[kind]
    module = fakes.install("raxis-foo", source=source)
    fakes.install("raxis-good", device="good")
    registry = fakes.registry()
    registry.resolve(Device("good"))
    error = refused(registry)
    assert error.device == "foo"
    assert error.state == State.FAILED
    for part in ("'foo'", "raxis-foo 1.0", "failed", step, detail, "python -m raxis.env"):
        assert part in str(error)
    assert (error.__cause__ is not None) == ("raised" in str(error))
    assert str(refused(registry)) == str(error)
    assert fakes.imports(module) == (kind != "syntax error")
    assert row(registry, "raxis-foo").state is State.FAILED
    assert step in row(registry, "raxis-foo").reason
    registry.resolve(Device("good:1"))


def test_the_cause_of_a_failure_shows_the_line_in_the_plugin(fakes) -> None:
    fakes.install("raxis-foo", source="API = (1, 0)\ndef probe(): return None\ndef load(): return 1 // 0")
    error = refused(fakes.registry())
    assert isinstance(error.__cause__, ZeroDivisionError)
    assert "return 1 // 0" in "".join(traceback.format_exception(error.__cause__))


def test_keyboard_interrupt_passes_and_leaves_the_plugin_found(fakes) -> None:
    source = fakes.good + "interrupts = [1]\nreal = load\n"
    source += "def load():\n    if interrupts.pop(): raise KeyboardInterrupt\n    return real()\n"
    fakes.install("raxis-foo", source=source.replace("[1]", "[0, 1]"))
    registry = fakes.registry()
    with pytest.raises(KeyboardInterrupt):
        registry.resolve(FOO)
    assert row(registry, "raxis-foo").state is State.FOUND
    registry.resolve(FOO)
    assert row(registry, "raxis-foo").state is State.READY


def test_unavailable_plugin_gives_its_own_sentence(fakes) -> None:
    source = (
        "API = (1, 0)\ndef probe(): return 'no driver: libfoo.so.1 not found.'\ndef load(): raise ValueError"
    )
    fakes.install("raxis-foo", source=source)
    registry = fakes.registry()
    assert "no driver: libfoo.so.1 not found" in (registry.reason(FOO) or "")
    assert refused(registry).state == State.UNAVAILABLE
    assert row(registry, "raxis-foo").reason == "no driver: libfoo.so.1 not found."


def test_reason_probes_without_loading(fakes) -> None:
    fakes.install("raxis-foo", source="API = (1, 0)\ndef probe(): return None\ndef load(): raise ValueError")
    registry = fakes.registry()
    assert registry.reason(FOO) is None
    assert row(registry, "raxis-foo").state is State.FOUND
    assert "load() raised ValueError" in (registry.reason(Device("foo:0")) or "")
    assert "load() raised ValueError" in (registry.reason(FOO) or "")


def test_plugin_that_uses_its_own_device_while_loading_is_told_so(fakes) -> None:
    source = "import sys\nAPI = (1, 0)\ndef probe(): return None\n"
    source += "def load(): return sys.modules[__name__].registry.resolve(sys.modules[__name__].device)\n"
    module = fakes.install("raxis-foo", source=source)
    registry = fakes.registry()
    registry.reason(FOO)
    plugin = __import__(module)
    plugin.registry, plugin.device = registry, FOO
    error = refused(registry)
    assert "used device 'foo' while it was being loaded" in str(error)
    assert isinstance(error.__cause__, BackendError)
    assert row(registry, "raxis-foo").state is State.FAILED


# --- versions ---


@pytest.mark.parametrize(
    "api", ["(0, 9)", "(2, 0)", "(1, 99)", "(1,)", "'1.0'", "[1, 0]", "(1.0, 0)", "(True, 0)"]
)
def test_other_api_versions_are_incompatible(fakes, api: str) -> None:
    fakes.install("raxis-foo", source=fakes.good.replace("(1, 0)", api))
    error = refused(fakes.registry())
    assert error.state == State.INCOMPATIBLE
    assert "API" in str(error)


def test_api_mismatch_names_what_to_upgrade() -> None:
    newer = messages.api_mismatch("raxis-foo", (2, 0), (1, 0), "0.4.0")
    assert "backend API 2.0" in newer
    assert "raxis-core 0.4.0 has API 1.0" in newer
    assert "`pip install --upgrade raxis-core`" in newer
    older = messages.api_mismatch("raxis-foo", (0, 3), (1, 0), "0.4.0")
    assert "`pip install --upgrade raxis-foo`" in older


def test_first_party_plugin_of_another_version_is_incompatible_without_import(fakes) -> None:
    module = fakes.install("raxis-cuda12", device="cuda", version="0.1.1")
    error = refused(fakes.registry(core_version="0.1.0"), "cuda")
    assert error.state == State.INCOMPATIBLE
    assert "`pip install raxis-core==0.1.0 raxis-cuda12==0.1.0`" in str(error)
    assert fakes.imports(module) == 0


def test_third_party_plugin_may_have_any_version(fakes) -> None:
    fakes.install("raxis-foo", version="77.1")
    fakes.registry().resolve(FOO)


# --- names ---


@pytest.mark.parametrize("name", ["my-device", "Foo", "", "1foo", "foo.bar", "föö"])
def test_bad_device_names_are_invalid_and_never_imported(fakes, name: str) -> None:
    module = fakes.install("raxis-odd", device=name)
    fakes.install("raxis-foo")
    registry = fakes.registry()
    registry.resolve(FOO)
    assert row(registry, "raxis-odd").state is State.INVALID
    assert repr(name) in row(registry, "raxis-odd").reason
    assert fakes.imports(module) == 0


@pytest.mark.parametrize(
    ("name", "who"),
    [
        ("cpu", "only raxis-cpu"),
        ("cuda", "only raxis-cuda12 or raxis-cuda13"),
        ("meta", "built into raxis-core"),
    ],
)
def test_reserved_names_from_a_foreign_distribution_are_invalid(fakes, name: str, who: str) -> None:
    module = fakes.install("intruder", device=name)
    registry = fakes.registry()
    assert row(registry, "intruder").state is State.INVALID
    assert who in row(registry, "intruder").reason
    assert fakes.imports(module) == 0


def test_naming_a_device_whose_only_plugin_is_invalid_says_why(fakes) -> None:
    fakes.install("raxis-foo", value="fake_plugin:load", source=None)
    error = refused(fakes.registry())
    assert error.state == State.INVALID
    assert "must be the name of a module" in str(error)


# --- duplicates ---


def test_one_distribution_installed_twice_is_silent(fakes, tmp_path) -> None:
    second = tmp_path / "second"
    second.mkdir()
    module = fakes.install("raxis-foo")
    fakes.install("Raxis_Foo", value=module, source=None, folder=second)
    registry = fakes.registry(path=[fakes.folder, second])
    assert [each.distribution for each in registry.rows() if each.device == "foo"] == ["raxis-foo"]
    registry.resolve(FOO)


@pytest.mark.parametrize("order", [("a-foo", "b-foo"), ("b-foo", "a-foo")])
def test_of_two_distributions_the_winner_is_stable_and_blocking_flips_it(
    fakes, order: tuple[str, str]
) -> None:
    modules = {name: fakes.install(name) for name in order}
    registry = fakes.registry()
    assert row(registry, "a-foo").state is State.FOUND
    assert row(registry, "b-foo").state is State.SHADOWED
    assert "RAXIS_PLUGINS_BLOCK=a-foo selects this one" in row(registry, "b-foo").reason
    registry.resolve(FOO)
    assert (fakes.imports(modules["a-foo"]), fakes.imports(modules["b-foo"])) == (1, 0)

    fakes.environ["RAXIS_PLUGINS_BLOCK"] = "a-foo"
    flipped = fakes.registry()
    assert row(flipped, "a-foo").state is State.BLOCKED
    flipped.resolve(FOO)
    assert fakes.imports(modules["b-foo"]) == 1


def test_shadowed_plugin_does_not_stand_in_for_a_broken_winner(fakes) -> None:
    fakes.install("a-foo", source="raise ImportError('broken')")
    fakes.install("b-foo")
    assert "a-foo 1.0 is failed" in str(refused(fakes.registry()))


def test_both_cuda_distributions_make_cuda_unavailable(fakes) -> None:
    modules = [fakes.install(f"raxis-cuda{number}", "cuda", version="9.9") for number in (12, 13)]
    fakes.environ["RAXIS_PLUGINS_BLOCK"] = ""
    registry = fakes.registry()
    error = refused(registry, "cuda")
    assert error.state == State.UNAVAILABLE
    assert "`pip uninstall -y raxis-cuda12 raxis-cuda13 cupy-cuda12x cupy-cuda13x`" in str(error)
    assert "`pip install raxis-cuda13==9.9`" in str(error)
    assert row(registry, "raxis-cuda12").state is row(registry, "raxis-cuda13").state is State.UNAVAILABLE
    assert [fakes.imports(module) for module in modules] == [0, 0]


# --- settings ---


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("RAXIS_PLUGINS", "none"),
        ("RAXIS_PLUGINS", "bar"),
        ("RAXIS_PLUGINS_BLOCK", "foo"),
        ("RAXIS_PLUGINS_BLOCK", "bar, Raxis_Foo"),
    ],
)
def test_blocked_plugin_is_not_imported_and_says_which_variable(fakes, variable: str, text: str) -> None:
    module = fakes.install("raxis-foo")
    fakes.environ[variable] = text
    registry = fakes.registry()
    error = refused(registry)
    assert error.state == State.BLOCKED
    assert variable in str(error)
    assert row(registry, "raxis-foo").state is State.BLOCKED
    assert fakes.imports(module) == 0


@pytest.mark.parametrize("text", ["all", "", "  ", "foo", "raxis-foo,bar", "bar,FOO"])
def test_admitted_plugin_loads(fakes, text: str) -> None:
    fakes.install("raxis-foo")
    fakes.environ["RAXIS_PLUGINS"] = text
    fakes.registry().resolve(FOO)


def test_misspelt_allow_list_is_explained_at_use(fakes) -> None:
    fakes.install("raxis-foo")
    fakes.environ["RAXIS_PLUGINS"] = "fooo"
    assert "Did you mean 'foo'?" in str(refused(fakes.registry()))


@pytest.mark.parametrize("text", ["none,foo", "foo,all", "foo,,bar", ",", "nome", "al", "1/2"])
def test_malformed_allow_list_is_an_error_whatever_device_is_named(fakes, text: str) -> None:
    fakes.install("raxis-foo")
    fakes.environ["RAXIS_PLUGINS"] = text
    registry = fakes.registry()
    with pytest.raises(ValueError, match="RAXIS_PLUGINS"):
        registry.resolve(FOO)
    with pytest.raises(ValueError, match="RAXIS_PLUGINS"):
        registry.resolve(Device("cpu"))


def test_settings_changed_before_first_use_take_effect(fakes) -> None:
    fakes.install("raxis-foo")
    registry = fakes.registry()
    fakes.environ["RAXIS_PLUGINS"] = "none"
    refused(registry)
    fakes.environ["RAXIS_PLUGINS"] = "all"
    registry.resolve(FOO)


def test_settings_changed_after_first_use_are_reported(fakes) -> None:
    fakes.install("a-foo")
    fakes.install("b-foo")
    registry = fakes.registry()
    registry.resolve(FOO)
    fakes.environ["RAXIS_PLUGINS_BLOCK"] = "a-foo"
    with pytest.raises(BackendError, match=r"already in use, served by a-foo 1\.0, .* selects b-foo 1\.0"):
        registry.check_unchanged("foo")
    fakes.environ["RAXIS_PLUGINS_BLOCK"] = "foo"
    with pytest.raises(BackendError, match="blocked: RAXIS_PLUGINS_BLOCK names 'foo'"):
        registry.check_unchanged("foo")
    fakes.environ.clear()
    registry.check_unchanged("foo")


# --- unknown devices ---


def test_unknown_device_suggests_and_tells_how_to_install(fakes) -> None:
    fakes.install("raxis-foo", device="gaudi")
    text = str(refused(fakes.registry(), "gaudy"))
    assert "Devices here: cpu, gaudi, meta." in text
    assert "Did you mean 'gaudi'?" in text
    assert "`pip install raxis-gaudy`" in text


def test_cuda_without_plugin_names_both_distributions(fakes) -> None:
    text = str(refused(fakes.registry(), "cuda"))
    assert text.startswith("Device 'cuda' is not installed. Devices here: cpu, meta.")
    assert "`pip install raxis-cuda12` (NVIDIA driver r525 or newer)" in text
    assert "`pip install raxis-cuda13` (NVIDIA driver r580 or newer)" in text
    assert "Did you mean" not in text


def test_gpu_is_no_alias_but_explained(fakes) -> None:
    text = str(refused(fakes.registry(), "gpu"))
    assert "There are no aliases: the device is called 'cuda'." in text
    assert "raxis-gpu" not in text


# --- refresh ---


def test_refresh_forgets_failures_and_sees_new_distributions(fakes, tmp_path, monkeypatch) -> None:
    fakes.install("raxis-good", device="good")
    module = fakes.install("raxis-foo", source="raise ImportError('not yet')")
    path = [fakes.folder]
    registry = fakes.registry(path)
    good = registry.resolve(Device("good"))
    refused(registry)
    later = tmp_path / "later"
    fakes.install("raxis-late", device="late", folder=later)
    monkeypatch.syspath_prepend(str(later))
    registry._path.append(str(later))
    refused(registry, "late")
    (fakes.folder / f"{module}.py").write_text(fakes.good + "# repaired, and of another size\n")

    registry.refresh()
    registry.resolve(FOO)
    registry.resolve(Device("late"))
    assert registry.resolve(Device("good"))[0] is good[0]


# --- cpu ---


def test_cpu_is_served_by_the_reference_backend_without_plugin(fakes) -> None:
    registry = fakes.registry()
    backend, index = registry.resolve(Device("cpu"))
    assert (type(backend).__name__, index) == ("ReferenceBackend", 0)
    assert [(each.device, each.state) for each in registry.rows()] == [
        ("cpu", State.READY),
        ("meta", State.READY),
    ]


def test_cpu_plugin_serves_cpu_when_it_is_usable(fakes) -> None:
    fakes.install("raxis-cpu", device="cpu", version="9.9")
    registry = fakes.registry()
    assert [each.state for each in registry.rows()] == [State.SHADOWED, State.READY, State.FOUND]
    assert type(registry.resolve(Device("cpu"))[0]).__name__ == "Fake"
    assert [each.state for each in registry.rows()] == [State.SHADOWED, State.READY, State.READY]


def test_reference_can_be_selected(fakes) -> None:
    module = fakes.install("raxis-cpu", device="cpu", version="9.9")
    fakes.environ["RAXIS_CPU"] = "reference"
    registry = fakes.registry()
    assert type(registry.resolve(Device("cpu"))[0]).__name__ == "ReferenceBackend"
    assert row(registry, "raxis-cpu")[3:] == (
        State.BLOCKED,
        "RAXIS_CPU=reference selects raxis-core's reference backend.",
    )
    assert fakes.imports(module) == 0
    fakes.environ["RAXIS_CPU"] = "plugin"
    with pytest.raises(
        BackendError, match=r"served by raxis-core's reference backend, .* selects raxis-cpu 9\.9"
    ):
        registry.check_unchanged("cpu")


BROKEN_CPU = {
    "failed": (
        "raise ImportError('Numba needs NumPy 2.1 or less. Run `pip install numpy==2.1`')",
        "9.9",
        "pip install numpy==2.1",
    ),
    "unavailable": ("API = (1, 0)\ndef probe(): return 'no AVX2'\ndef load(): ...", "9.9", "no AVX2"),
    "incompatible": ("", "9.8", "pip install raxis-core==9.9 raxis-cpu==9.9"),
}


@pytest.mark.parametrize("state", BROKEN_CPU)
def test_unusable_cpu_plugin_warns_once_and_the_reference_serves(fakes, state: str) -> None:
    source, version, reason = BROKEN_CPU[state]
    fakes.install("raxis-cpu", device="cpu", source=source, version=version)
    registry = fakes.registry()
    with pytest.warns(RuntimeWarning, match="raxis-cpu is unusable") as caught:
        backend, _ = registry.resolve(Device("cpu"))
    assert reason in str(caught[0].message)
    assert caught[0].filename == __file__
    assert type(backend).__name__ == "ReferenceBackend"
    assert row(registry, "raxis-cpu").state == state
    assert reason in row(registry, "raxis-cpu").reason
    assert reason in registry.rows()[0].reason
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        registry.refresh()
        assert registry.resolve(Device("cpu:0"))[0] is backend


def test_blocked_cpu_plugin_leaves_cpu_to_the_reference_silently(fakes) -> None:
    fakes.install("raxis-cpu", device="cpu", version="9.9")
    fakes.environ["RAXIS_PLUGINS"] = "none"
    assert type(fakes.registry().resolve(Device("cpu"))[0]).__name__ == "ReferenceBackend"
