"""A long list of the store, of which a window is in memory; pages are fetched in threads.

Its state is a record of `kgtui.state.history.paging`; callers that load more pass the visible rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from kgtui.state.history.paging import PAGE, Window

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")
Entry = TypeVar("Entry", covariant=True)


class Fetch(Protocol[Entry]):
    """Fetches entries, newest first: those before or after one, or the newest; None on failure."""

    def __call__(
        self, *, before: int | None = None, after: int | None = None, limit: int = PAGE
    ) -> Awaitable[tuple[Entry, ...] | None]: ...


class PagedList(Generic[T]):
    """One list; `loaded` is False until something was fetched."""

    def __init__(self, fetch: Fetch[T], *, number: Callable[[T], int]) -> None:
        self._fetch = fetch
        self.window: Window[T] = Window(number=number)
        self.loaded = False

    async def load_newest(self) -> None:
        """Load the top of the list."""
        page = await self._fetch()
        self.loaded = True
        if page is not None:
            self.window = self.window.filled(page, at_top=True, at_bottom=len(page) < PAGE)

    async def load_oldest(self) -> None:
        """Load the bottom of the list."""
        page = await self._fetch(after=0)
        if page is not None:
            self.window = self.window.filled(page, at_top=len(page) < PAGE, at_bottom=True)

    async def load_below(self, *, first_seen: Callable[[], int]) -> None:
        """Load the page below; `first_seen` then returns the first visible row."""
        window = self.window
        if window.at_bottom or window.oldest is None:
            return
        page = await self._fetch(before=window.oldest)
        if page is not None and self.window is window:
            self.window = window.with_below(page, keep=len(window.entries) - first_seen() + PAGE // 2)

    async def load_above(self, *, last_seen: Callable[[], int]) -> None:
        """Load the page above; `last_seen` then returns the last visible row."""
        window = self.window
        if window.at_top or window.newest is None:
            return
        page = await self._fetch(after=window.newest)
        if page is not None and self.window is window:
            self.window = window.with_above(page, keep=last_seen() + PAGE // 2)

    async def refresh(self) -> None:
        """Fetch the rows of the window again, with newer ones if it is at the top."""
        window = self.window
        before = None if window.at_top or window.newest is None else window.newest + 1
        page = await self._fetch(before=before, limit=max(PAGE, len(window.entries)))
        self.loaded = True
        if page is not None and self.window is window:
            at_bottom = len(page) < max(PAGE, len(window.entries))
            self.window = window.filled(page, at_top=before is None, at_bottom=at_bottom)
