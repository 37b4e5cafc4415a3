"""Work beside the screen: a newer piece of a group replaces the older, and a fault never ends the app.

The application hears of a fault through its worker messages and says it.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from textual.dom import DOMNode
from textual.worker import Worker


def in_background(node: DOMNode, work: Callable[[], Coroutine[Any, Any, None]], *, group: str) -> Worker[None]:
    """Run `work` as long as `node` lives; it is called only once the worker starts."""
    worker: Worker[None] = node.run_worker(
        work,
        group=group,
        exclusive=True,
        exit_on_error=False,
    )
    return worker
