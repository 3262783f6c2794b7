"""Logging: loggers ``raxis.compile``, ``raxis.kernels`` and so on of the standard library, opened by RAXIS_LOG.

RAXIS_LOG is a list of topics; ``debug`` is all of them with every detail. The records go to the standard error stream,
unless the program set up handlers itself. Nothing is imported, and nothing formatted, for what nobody listens to.
"""

from __future__ import annotations

import sys
import threading
from functools import lru_cache
from typing import TYPE_CHECKING

from raxis.backends.settings import Settings

if TYPE_CHECKING:
    from logging import Logger

_lock = threading.Lock()


def listener(topic: str, *, detail: bool = False) -> Logger | None:
    """The logger of a topic if somebody listens, else None.

    Args:
        topic: one of `raxis.backends.settings.LOG_TOPICS`.
        detail: for records of level DEBUG; others are INFO.

    Raises:
        ValueError: if RAXIS_LOG is not understood.

    Example:
        >>> listener("kernels") is None
        True
    """
    topics = Settings().log_topics
    if not topics and "logging" not in sys.modules:
        return None
    import logging

    with _lock:
        _open(topics)
    found = logging.getLogger(f"raxis.{topic}")
    return found if found.isEnabledFor(logging.DEBUG if detail else logging.INFO) else None


@lru_cache(maxsize=1)
def _open(topics: frozenset[str]) -> None:
    """Set the levels that RAXIS_LOG asks for; those that it does not mention are left to the program."""
    if not topics:
        return
    import logging

    root = logging.getLogger("raxis")
    if not root.hasHandlers():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(name)s: %(message)s", "%H:%M:%S"))
        root.addHandler(handler)
    if "debug" in topics:
        root.setLevel(logging.DEBUG)
    for topic in topics - {"debug"}:
        logging.getLogger(f"raxis.{topic}").setLevel(logging.INFO)
