"""Policies as text: ``default``, ``measured``, and implementations by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from raxis.overrides.registry import DEFAULT, MEASURED, known, lookup


def checked(policies: Mapping[str, Any]) -> dict[str, str]:
    """Policies by the full names of functionals.

    Raises:
        ValueError: for an unknown functional or implementation, and a functional named twice.
        TypeError: for a policy that is no string.
    """
    found: dict[str, str] = {}
    for name, policy in policies.items():
        functional = known(name)
        if functional in found:
            raise ValueError(f"functional {functional!r} is given two policies; give one.")
        found[functional] = _checked(functional, policy)
    return found


def _checked(functional: str, policy: Any) -> str:
    if not isinstance(policy, str):
        raise TypeError(
            f"the policy of functional {functional!r} must be a string such as 'default', 'measured' or an "
            f"implementation's name, not {type(policy).__name__}."
        )
    name = policy.strip().removeprefix("force=").strip()
    if policy.strip() not in (DEFAULT, MEASURED):
        lookup(functional, name)
    return name


def parsed(text: str, origin: str) -> dict[str, str]:
    """Policies of a text such as ``softmax=composed,layer_norm=measured``, not yet checked.

    Raises:
        ValueError: naming `origin`, if an item has no policy or a functional two.
    """
    found: dict[str, str] = {}
    for item in filter(None, map(str.strip, text.split(","))):
        name, equals, policy = (part.strip() for part in item.partition("="))
        if not (name and equals and policy):
            raise ValueError(
                f"{origin}: {item!r} is not understood. Write functionals with policies, separated by commas, as in "
                "softmax=composed,layer_norm=measured."
            )
        if name in found:
            raise ValueError(f"{origin}: functional {name!r} is given two policies; give one.")
        found[name] = policy
    return found
