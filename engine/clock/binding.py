"""Entries whose calls are prepared from their arguments before anything is timed or recorded."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import Any


class BindingEntry(abc.ABC):
    """An entry that prepares each call, for example by constructing a module with its weights."""

    @abc.abstractmethod
    def bind(self, arguments: Sequence[Any]) -> Callable[[], Any]:
        """The call on these arguments; preparing it may read their content.

        Raises:
            BaseException: any exception of the candidate's code.
        """

    def __call__(self, *arguments: Any) -> Any:
        """Returned value of a call that is prepared first."""
        return self.bind(arguments)()


def bound(entry: Callable[..., Any], arguments: Sequence[Any]) -> Callable[[], Any]:
    """The call of an entry on these arguments, prepared now where the entry is a `BindingEntry`."""
    return entry.bind(arguments) if isinstance(entry, BindingEntry) else lambda: entry(*arguments)
