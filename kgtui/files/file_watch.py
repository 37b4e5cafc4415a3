"""The watched file; passes the reports of its watcher to the application's thread."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

from textual.app import App
from textual.message import Message

from engine.static.source import imported_files
from kgtui.background import in_background
from kgtui.ports.file_events import Saved, WatchTrouble
from kgtui.ports.protocols import WatcherFactory, Watching
from kgtui.ports.requests import RunRequest


class FileSaved(Message):
    """Message: the watcher reported a save; posted from its thread.  `watch` identifies the watcher."""

    def __init__(self, saved: Saved, *, watch: int) -> None:
        super().__init__()
        self.saved = saved
        self.watch = watch


class WatchTroubled(Message):
    """Message: the watcher reported a problem; posted from its thread."""

    def __init__(self, trouble: WatchTrouble, *, watch: int) -> None:
        super().__init__()
        self.trouble = trouble
        self.watch = watch


class FileWatch:
    """Holds one watcher at a time; messages of earlier ones are recognised by their number."""

    def __init__(self, app: App[None], factory: WatcherFactory) -> None:
        self._app = app
        self._factory = factory
        self._watcher: Watching | None = None
        self.number = 0

    def watch(self, path: Path, *, known_digest: str) -> None:
        """Watch this file instead of the previous one."""
        before, self.number = self._watcher, self.number + 1
        number, post = self.number, self._app.post_message

        def report_save(saved: Saved) -> None:
            post(FileSaved(saved, watch=number))

        def report_trouble(trouble: WatchTrouble) -> None:
            post(WatchTroubled(trouble, watch=number))

        self._watcher = self._factory(path, report_save, report_trouble, known_digest=known_digest)
        self._watcher.start()
        if before is not None:
            in_background(self._app, partial(asyncio.to_thread, before.stop), group="watchers")

    def follow_imports(self, request: RunRequest) -> None:
        """Also watch the files that the kernel imports from its folder."""
        in_background(self._app, partial(self._follow, request), group="imports")

    async def stop(self) -> None:
        """Stop watching; no report follows."""
        if self._watcher is not None:
            await asyncio.to_thread(self._watcher.stop)

    async def _follow(self, request: RunRequest) -> None:
        watcher = self._watcher
        siblings = await asyncio.to_thread(imported_files, request.content, request.path.parent)
        if watcher is not None and watcher is self._watcher:
            watcher.follow(siblings)
