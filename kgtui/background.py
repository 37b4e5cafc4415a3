"""Background work: newer work of a group replaces older work, and an error never ends the app.

The application gets an error as a worker message and shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from textual.dom import DOMNode
from textual.worker import Worker


def in_background(node: DOMNode, work: Callable[[], Coroutine[Any, Any, None]], *, group: str) -> Worker[None]:
    """Run `work` in the background until `node` is removed; it is called only once the worker starts."""
    worker: Worker[None] = node.run_worker(
        work,
        group=group,
        exclusive=True,
        exit_on_error=False,
    )
    return worker
