"""``python -m raxis.overrides``: show policies and implementations, and edit the configuration file.

Exit status: 0 when all is well, 2 after an error.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from raxis.backends.settings import Settings
from raxis.overrides import choices, configuration
from raxis.overrides.policies import checked, parsed
from raxis.overrides.registry import DEFAULT, SHORT_NAMES, find, functionals, implementations, known


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; its exit status. `arguments` are by default the process's."""
    options = _parser().parse_args(arguments)
    try:
        print("\n".join(options.command(options)))
    except (OSError, ValueError, RuntimeError) as error:
        print(f"raxis.overrides: {error}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m raxis.overrides", description="Which implementation of a functional runs."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    listing = commands.add_parser("list", help="functionals with several implementations, and their policies")
    listing.set_defaults(command=_list)
    show = commands.add_parser("show", help="implementations, policies and measured choices of a functional")
    show.add_argument("functional")
    show.set_defaults(command=_show)
    setting = commands.add_parser("set", help="put policies into the configuration file")
    setting.add_argument("policies", nargs="+", metavar="FUNCTIONAL=POLICY")
    setting.set_defaults(command=_set)
    clear = commands.add_parser(
        "clear", help="take functionals, by default all, out of the configuration file"
    )
    clear.add_argument("functionals", nargs="*", metavar="FUNCTIONAL")
    clear.add_argument("--choices", action="store_true", help="forget what was measured instead")
    clear.set_defaults(command=_clear)
    return parser


def _list(_: argparse.Namespace) -> Iterable[str]:
    held = _policies()
    for functional in functionals():
        names = implementations(functional)
        if len(names) > 1 or functional in held:
            policy, origin = held.get(functional, (DEFAULT, ""))
            yield f"{functional:30} {policy:12} {', '.join(names)}{f'  ({origin})' if origin else ''}"


def _show(options: argparse.Namespace) -> Iterable[str]:
    functional = known(options.functional)
    policy, origin = _policies().get(functional, (DEFAULT, "nothing says otherwise"))
    yield f"{functional}: policy {policy} ({origin})"
    for name in implementations(functional):
        found = find(functional, name)
        sentence = "the op's own" if found is None else (found.function.__doc__ or "").strip().split("\n")[0]
        yield f"  {name:12} {sentence}{f' ({found.origin})' if found is not None else ''}"
    for choice in choices.stored(functional):
        times = ", ".join(f"{name} {time:g} us" for name, time in choice["microseconds"].items())
        yield f"  measured for ({choice['case'].get('arguments')}): {choice['choice']} ({times})"


def _set(options: argparse.Namespace) -> Iterable[str]:
    path = _file()
    given = checked(parsed(",".join(options.policies), "set"))
    configuration.write(path, {**checked(configuration.stored(path)), **given})
    yield str(path)


def _clear(options: argparse.Namespace) -> Iterable[str]:
    if options.choices:
        choices.forget()
        yield "Measured choices are forgotten."
        return
    path = _file()
    held = configuration.stored(path) if options.functionals else {}
    dropped = {name if name in held else known(name) for name in options.functionals}
    kept = {name: policy for name, policy in held.items() if not {name, SHORT_NAMES.get(name)} & dropped}
    configuration.write(path, kept)
    yield str(path)


def _policies() -> dict[str, tuple[str, str]]:
    """Policies from outside of programs, with their origins."""
    settings = Settings()
    found = {name: (policy, str(_file())) for name, policy in configuration.from_file(settings).items()}
    environment = configuration.from_environment(settings)
    return {**found, **{name: (policy, "RAXIS_OVERRIDES") for name, policy in environment.items()}}


def _file() -> Path:
    path = Settings().overrides_file
    if path is None:
        raise ValueError("there is no home folder for the configuration file; set RAXIS_OVERRIDES_FILE.")
    return path


if __name__ == "__main__":
    sys.exit(main())
