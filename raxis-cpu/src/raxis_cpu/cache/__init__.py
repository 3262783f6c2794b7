"""Object code kept on disk, so that a program that ran before starts without compiling.

`object_code` is all that a compiler needs. Whatever is wrong with the folder or with an entry, code is compiled as if
there were no cache.
"""

from __future__ import annotations

from raxis_cpu.cache.store import clear, object_code, summary

__all__ = ["clear", "object_code", "summary"]
