"""The form of an entry: object code with all that it depends on.

::

    magic      8 bytes
    digest    32 bytes    BLAKE2b of what follows
    length     4 bytes    of the key in UTF-8, little-endian
    key
    code

The whole key is kept and compared, so that two programs whose names collide are never taken for each other.
"""

from __future__ import annotations

from hashlib import blake2b

_MAGIC = b"raxisob1"
_DIGEST_SIZE = 32
_LENGTH_SIZE = 4
_HEAD = len(_MAGIC) + _DIGEST_SIZE


def name_of(key: str) -> str:
    """The file name of the entry of a key."""
    return f"{blake2b(key.encode(), digest_size=16).hexdigest()}.o"


def pack(key: str, code: bytes) -> bytes:
    """The bytes of an entry."""
    encoded = key.encode()
    body = len(encoded).to_bytes(_LENGTH_SIZE, "little") + encoded + code
    return _MAGIC + blake2b(body, digest_size=_DIGEST_SIZE).digest() + body


def unpack(key: str, entry: bytes) -> bytes | None:
    """The code in an entry; None if the entry is damaged or is that of another key.

    Example:
        >>> unpack("a key", pack("a key", b"code"))
        b'code'
        >>> unpack("another key", pack("a key", b"code"))
    """
    magic, digest, body = entry[: len(_MAGIC)], entry[len(_MAGIC) : _HEAD], entry[_HEAD:]
    if magic != _MAGIC or digest != blake2b(body, digest_size=_DIGEST_SIZE).digest():
        return None
    encoded = key.encode()
    expected = len(encoded).to_bytes(_LENGTH_SIZE, "little") + encoded
    return body[len(expected) :] if body.startswith(expected) else None
