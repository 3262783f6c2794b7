"""Stable identities of parameters: 128-bit numbers that depend on names only, never on contents or addresses.

What is derived from a parameter (packed or folded weights, caches on disk) is found again by its identity, in
another process too. The rule is that of the GPTRSCHK checkpoints, so identities agree with theirs.
"""

from __future__ import annotations

from raxis.ptir.blake3 import blake3

BITS = 128
"""Bits of an identity."""

_BYTES = BITS // 8
_KEY_DOMAIN = b"gpt-rs:param-key:v1"


def base_id(name: str) -> int:
    """The identity of a name: the first 16 bytes of its BLAKE3 hash, as a little-endian number.

    Raises:
        ValueError: if the name is not ASCII.

    Example:
        >>> f"{base_id('lm_head'):032x}"
        'a962c72e0d59ef7a13ff91bdee235d58'
    """
    if not name.isascii():
        raise ValueError(f"a parameter's identity is made of an ASCII name, but got {name!r}; rename it.")
    return _number(blake3(name.encode("ascii")))


def stable_id(name: str, namespace: int) -> int:
    """The identity of the parameter called `name` of one instance of a model; instances have namespaces.

    Raises:
        ValueError: if the name is not ASCII, or the namespace is no unsigned 128-bit number.

    Example:
        >>> f"{stable_id('lm_head', namespace=1):032x}"
        'bc874dba78a0af10e0bf65eac431acd0'
    """
    if not is_id(namespace):
        raise ValueError(f"a namespace must be an integer in [0, 2**{BITS}), but got {namespace!r}.")
    return _number(blake3(_KEY_DOMAIN + _bytes(namespace) + _bytes(base_id(name))))


def is_id(number: object) -> bool:
    """Whether `number` can be an identity: an unsigned 128-bit integer."""
    return type(number) is int and 0 <= number < 1 << BITS


def _bytes(number: int) -> bytes:
    return number.to_bytes(_BYTES, "little")


def _number(digest: bytes) -> int:
    return int.from_bytes(digest[:_BYTES], "little")
