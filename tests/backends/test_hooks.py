"""Extension plugins: loaded at the first hook call, broken ones left out with a stored reason."""

from __future__ import annotations

import warnings

import pytest

from raxis.backends.settings import Settings
from raxis.backends.states import State
from raxis.hooks import Extensions, hook_names

GOOD = """
from raxis.hooks import hookimpl
@hookimpl
def raxis_composites(device):
    return {"layer_norm": device}
@hookimpl
def raxis_passes(device):
    return {"fuse": [device]}
"""


def install(fakes, distribution: str, source: str, **options) -> str:
    return fakes.install(distribution, source=source, group="raxis.plugins", **options)


def extensions(fakes) -> Extensions:
    return Extensions(Settings(fakes.environ), [str(fakes.folder)])


def test_hooks_cover_every_extension_point() -> None:
    assert hook_names() == [
        "raxis_ops",
        "raxis_composites",
        "raxis_passes",
        "raxis_functional_overrides",
        "raxis_checkpoint_formats",
    ]


def test_plugin_is_imported_at_the_first_hook_call(fakes) -> None:
    module = install(fakes, "ext-one", GOOD)
    found = extensions(fakes)
    assert [(row.state, row.reason) for row in found.rows()] == [(State.FOUND, "")]
    assert fakes.imports(module) == 0
    [contribution] = found.collect("raxis_composites", device="foo")
    assert contribution == ("foo (ext-one 1.0)", {"layer_norm": "foo"})
    assert [each.result for each in found.collect("raxis_passes", device="foo")] == [{"fuse": ["foo"]}]
    assert found.collect("raxis_ops") == []
    assert fakes.imports(module) == 1
    assert found.rows()[0].state is State.READY


def test_entry_point_may_name_an_object(fakes) -> None:
    source = "from raxis.hooks import hookimpl\nclass Plugin:\n    @hookimpl\n    def raxis_ops(self): return [1]\n"
    source += "plugin = Plugin()\n"
    module = install(fakes, "ext-one", source)
    (fakes.folder / "ext_one-1.0.dist-info" / "entry_points.txt").write_text(
        f"[raxis.plugins]\nfoo = {module}:plugin\n"
    )
    assert [each.result for each in extensions(fakes).collect("raxis_ops")] == [[1]]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("raise ImportError('no libfoo')", "ImportError: no libfoo"),
        ("import sys; sys.exit(1)", "SystemExit: 1"),
        (GOOD.replace("raxis_passes", "raxis_pases"), "Did you mean 'raxis_passes'"),
        (GOOD.replace("(device)", "(device, nonsense)"), "nonsense"),
        (GOOD.replace('{"layer_norm": device}', "1 / 0"), "raxis_composites raised ZeroDivisionError"),
    ],
)
def test_broken_plugin_is_left_out_with_one_warning(fakes, source: str, reason: str) -> None:
    install(fakes, "ext-bad", source)
    install(fakes, "ext-good", GOOD)
    found = extensions(fakes)
    with pytest.warns(RuntimeWarning, match="ext-bad 1.0") as caught:
        contributions = found.collect("raxis_composites", device="foo")
    assert [each.plugin for each in contributions] == ["foo (ext-good 1.0)"]
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(found.collect("raxis_composites", device="foo")) == 1
    [bad, good] = found.rows()
    assert (bad.distribution, bad.state, good.state) == ("ext-bad", State.FAILED, State.READY)
    assert reason in bad.reason
    assert reason.partition(":")[0] in str(caught[0].message)


@pytest.mark.parametrize(
    ("variable", "text"), [("RAXIS_PLUGINS", "none"), ("RAXIS_PLUGINS_BLOCK", "ext-one")]
)
def test_blocked_plugin_is_not_imported(fakes, variable: str, text: str) -> None:
    module = install(fakes, "ext-one", GOOD)
    fakes.environ[variable] = text
    found = extensions(fakes)
    assert found.collect("raxis_passes") == []
    assert found.rows()[0].state is State.BLOCKED
    assert fakes.imports(module) == 0


def test_unknown_hook_is_an_error_with_the_nearest_name(fakes) -> None:
    with pytest.raises(ValueError, match=r"no hook 'raxis_op'.*Did you mean 'raxis_ops'"):
        extensions(fakes).collect("raxis_op")
