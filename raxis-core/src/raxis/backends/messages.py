"""Every sentence that devices and plugins say to the user: what was given, what is so, what to do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

INSTALL_HINTS = {
    "cuda": (
        "`pip install raxis-cuda12` (NVIDIA driver r525 or newer) or "
        "`pip install raxis-cuda13` (NVIDIA driver r580 or newer)"
    ),
}
"""How to get a device whose distribution is not simply called ``raxis-<device>``."""

OTHER_NAMES = {"gpu": "cuda", "nvidia": "cuda", "cuda12": "cuda", "cuda13": "cuda", "numpy": "cpu"}
"""Names people try, and the device type they mean; offered as a hint, never accepted as an alias."""

REPORT = "`python -m raxis.env` shows every device and plugin."


def nearest(name: str, candidates: Iterable[str]) -> list[str]:
    """The candidates that `name` may be a misspelling of."""
    from difflib import get_close_matches

    return get_close_matches(name, sorted(candidates), n=3, cutoff=0.7)


def _did_you_mean(name: str, candidates: Iterable[str]) -> str:
    return _offer(nearest(name, candidates))


def _offer(names: Sequence[str]) -> str:
    return f" Did you mean {' or '.join(map(repr, names))}?" if names else ""


# --- environment variables ---


def bad_choice(variable: str, text: str, choices: Sequence[str], alternative: str = "") -> str:
    """A variable holds none of the accepted words."""
    accepted = ", ".join([*map(repr, choices), *filter(None, [alternative])])
    return f"{variable}={text!r} is not understood; it accepts {accepted}.{_did_you_mean(text, choices)}"


def bad_list(variable: str, text: str | None, name: str) -> str:
    """A comma-separated list holds something that is no name."""
    return (
        f"{variable}={text!r} is not understood: {name!r} is no device or distribution name. "
        f"Write names separated by commas, as in {variable}=foo,raxis-bar."
    )


def mixed_plugins(text: str | None) -> str:
    """RAXIS_PLUGINS mixes a keyword with names."""
    return f"RAXIS_PLUGINS={text!r} is not understood: 'all' and 'none' stand alone, without other names."


def unknown_variable(name: str, known: Iterable[str]) -> str:
    """The environment has a RAXIS_ variable that nothing reads."""
    return f"{name} is set, but Raxis reads no variable of that name.{_did_you_mean(name, known)}"


# --- reasons of states ---


def blocked_by_list(name: str) -> str:
    """Named in RAXIS_PLUGINS_BLOCK."""
    return f"RAXIS_PLUGINS_BLOCK names {name!r}."


def reference_chosen() -> str:
    """RAXIS_CPU excludes the CPU plugin."""
    return "RAXIS_CPU=reference selects raxis-core's reference backend."


def not_allowed(allowed: Sequence[str], own: Sequence[str]) -> str:
    """Not named in RAXIS_PLUGINS."""
    if not allowed:
        return "RAXIS_PLUGINS=none admits no plugin."
    close = [name for name in own if nearest(name, allowed)]
    return f"RAXIS_PLUGINS={','.join(allowed)} does not name it.{_offer(close)}"


def invalid_name(name: str) -> str:
    """The entry-point name is no device type."""
    return (
        f"{name!r} is no device type: the entry-point name must consist of lower-case letters, digits and "
        "underscores, and must not start with a digit."
    )


def reserved_name(name: str, owners: Sequence[str]) -> str:
    """A foreign distribution claims a name of Raxis itself."""
    who = f"only {' or '.join(owners)} may provide it" if owners else "it is built into raxis-core"
    return f"the device type {name!r} is reserved: {who}."


def invalid_value(value: str) -> str:
    """The entry-point value is no module."""
    return f"the entry-point value must be the name of a module, as in 'raxis_foo', not {value!r}."


def shadowed(winner: str) -> str:
    """Another distribution comes first."""
    return (
        f"{winner} provides the same device and comes first. RAXIS_PLUGINS_BLOCK={winner} selects this one."
    )


def cuda_conflict(version: str) -> str:
    """raxis-cuda12 and raxis-cuda13 are both installed."""
    return (
        "raxis-cuda12 and raxis-cuda13 exclude each other, and both are installed. Run "
        "`pip uninstall -y raxis-cuda12 raxis-cuda13 cupy-cuda12x cupy-cuda13x`, then one of "
        f"`pip install raxis-cuda12=={version}` and `pip install raxis-cuda13=={version}`."
    )


def version_mismatch(distribution: str, version: str, core: str) -> str:
    """A first-party plugin and core differ in version."""
    return (
        f"{distribution} {version} and raxis-core {core} must have the same version. "
        f"Run `pip install raxis-core=={core} {distribution}=={core}`."
    )


def malformed_api(api: object) -> str:
    """`API` is no pair of numbers."""
    return f"its API must be a pair of integers such as (1, 0), but is {api!r}."


def api_mismatch(distribution: str, api: tuple[int, int], core_api: tuple[int, int], core: str) -> str:
    """The protocol versions do not fit."""
    older = "raxis-core" if api > core_api else distribution
    return (
        f"it was written for backend API {api[0]}.{api[1]}, but raxis-core {core} has API "
        f"{core_api[0]}.{core_api[1]}. Run `pip install --upgrade {older}`."
    )


def missing_member(module: str, member: str) -> str:
    """The plugin module lacks a part of the protocol."""
    return f"module {module!r} does not define {member}; a plugin defines API, probe() and load()."


def bad_probe(answer: object) -> str:
    """`probe()` returned neither None nor a sentence."""
    return f"probe() returned {answer!r}, but must return None or one sentence saying why not."


def bad_load(result: object) -> str:
    """`load()` returned no backend."""
    return f"load() returned {type(result).__name__}, but must return a raxis.backends.api.Backend."


def bad_count(count: object) -> str:
    """`device_count()` returned no number of devices."""
    return f"device_count() returned {count!r}, but must return the number of devices."


def no_devices() -> str:
    """`device_count()` is 0."""
    return "its backend reports no device on this machine."


def raised(step: str, error: BaseException) -> str:
    """A step of loading the plugin raised."""
    detail = str(error).strip()
    return f"{step} raised {type(error).__name__}{': ' + detail if detail else ''}"


# --- errors ---


def unusable(device: str, plugin: str, state: str, reason: str) -> str:
    """A device with an unusable plugin was named."""
    return (
        f"Device {device!r} cannot be used: its plugin {plugin} is {state}: {reason.rstrip('.')}. {REPORT} "
        "After a repair call raxis.backends.refresh() or start a new process."
    )


def unknown_device(device: str, known: Sequence[str]) -> str:
    """No plugin provides the named device."""
    meant = OTHER_NAMES.get(device)
    what = "Device {!r} is not installed." if device in INSTALL_HINTS else "Unknown device {!r}."
    here = f"{what.format(device)} Devices here: {', '.join(known)}."
    if meant is not None:
        here += f" There are no aliases: the device is called {meant!r}."
    elif device not in INSTALL_HINTS:
        here += _did_you_mean(device, {*known, *INSTALL_HINTS})
    if meant in known:
        return f"{here} {REPORT}"
    install = INSTALL_HINTS.get(meant or device, f"`pip install raxis-{device.replace('_', '-')}`")
    return f"{here} Devices are installed as packages: {install}. {REPORT}"


def index_out_of_range(device: str, index: int, count: int) -> str:
    """The device type has fewer devices."""
    have = (
        f"is one device, {device}:0"
        if count == 1
        else f"are {count} devices, {device}:0 to {device}:{count - 1}"
    )
    return f"Device '{device}:{index}' does not exist: there {have}."


def reentrant(device: str, plugin: str) -> str:
    """A plugin uses its own device while it is being loaded."""
    return (
        f"Plugin {plugin} used device {device!r} while it was being loaded. Its import, probe() and load() "
        "must not create tensors on, or ask for, the device they provide."
    )


def changed(device: str, serving: str, now: str) -> str:
    """The environment was changed after the device was first used."""
    return (
        f"Device {device!r} is already in use, served by {serving}, but the environment now selects {now}. "
        "RAXIS_PLUGINS, RAXIS_PLUGINS_BLOCK and RAXIS_CPU are read when a device is first used: restore them, or "
        "set them in a new process."
    )


def reference_serves(reason: str) -> str:
    """The CPU plugin is unusable and core's reference backend stands in."""
    return f"Device 'cpu' is served by raxis-core's reference backend, because raxis-cpu is unusable: {reason} {REPORT}"


def extension_failed(plugin: str, reason: str) -> str:
    """A plugin of group raxis.plugins is left out."""
    return f"Extension plugin {plugin} is left out: {reason.rstrip('.')}. {REPORT}"


def unknown_hook(name: str, known: Sequence[str]) -> str:
    """A hook is called or implemented that does not exist."""
    return f"There is no hook {name!r}; the hooks are {', '.join(known)}.{_did_you_mean(name, known)}"
