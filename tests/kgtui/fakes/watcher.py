"""A file watcher that reports what a test gives it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from engine.model import (
    Candidate,
)
from kgtui.ports.file_events import Saved, WatchTrouble


@dataclass
class FakeWatcher:
    """Reports what a test tells it to."""

    path: Path
    on_save: Callable[[Saved], None]
    on_trouble: Callable[[WatchTrouble], None]
    known_digest: str | None = None
    running: bool = False
    followed: tuple[Path, ...] = ()

    def start(self) -> None:
        self.running = True

    def follow(self, siblings: Iterable[Path]) -> None:
        self.followed = tuple(siblings)

    def stop(self) -> None:
        self.running = False

    def save(self, content: bytes) -> None:
        """Another program wrote the file."""
        digest = Candidate(source=content, problem="").digest
        self.on_save(
            Saved(path=self.path.absolute(), changed=self.path.absolute(), content=content, digest=digest, at_s=0.0)
        )
