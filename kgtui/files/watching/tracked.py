"""The state of one watched file: its last known content, and the time of the next check.

A state machine without threads or a clock.  It never reports the same content twice, or content that may still be being
written.
"""

from __future__ import annotations

import enum
import hashlib
from dataclasses import dataclass
from pathlib import Path

from engine.sandbox.user_files import UserFileError, reason_of
from kgtui.files.watching.reading import Signature, parses, read_unchanged, signature_of
from kgtui.ports.file_events import Delays


class Sight(enum.Enum):
    """Kind of a reported observation of the file."""

    CHANGED = enum.auto()
    GONE = enum.auto()
    UNREADABLE = enum.auto()
    BACK = enum.auto()


@dataclass(frozen=True, kw_only=True)
class Report:
    """One observation; `reason` is the system's error if the file cannot be read."""

    sight: Sight
    at_s: float
    reason: str = ""


class TrackedFile:
    """One file by its path, whatever its current inode."""

    def __init__(self, path: Path, *, delays: Delays, known_digest: str | None = None) -> None:
        self.path = path
        self.due_s: float | None = None
        self.content: bytes | None = None
        self.digest = known_digest
        self._delays = delays
        self._signature: Signature | None = None
        self._awaited: Signature | None = None
        self._event_s = 0.0
        self._missing_since_s: float | None = None
        self._doubted_since_s: float | None = None
        self._lost: tuple[Sight, str] | None = None  # kind and system message of the loss; None while the file exists

    def begin(self, now_s: float) -> None:
        """Record the current content as known; if it differs from a digest given before, it will be reported."""
        try:
            self._signature = signature_of(self.path)
            content = read_unchanged(self.path, self._signature) if self._signature else None
        except (OSError, UserFileError):
            content = None
        if content is None or self.digest not in {None, _digest(content)}:
            self.notice(now_s, final=True)
        else:
            self.content, self.digest = content, _digest(content)

    def notice(self, now_s: float, *, final: bool) -> None:
        """Record an event of the file; `final` is whether its writer has closed it."""
        self._event_s = now_s
        self._awaited = None
        self.due_s = now_s if final else now_s + self._delays.settle_s

    def poll(self, now_s: float) -> None:
        """Compare the file's status with the last check, in case no event reported a change."""
        if self.due_s is not None:
            return
        signature = self._status()
        if signature != self._signature:
            self.notice(now_s, final=False)
            self._awaited = signature

    def look(self, now_s: float) -> tuple[Report, ...]:
        """Read the file, which is due, and return new reports."""
        self.due_s = None
        try:
            signature = signature_of(self.path)
            if signature is None:
                return self._missing(now_s)
            self._missing_since_s = None
            if self._awaited is not None and signature != self._awaited:
                self._awaited = signature
                self.due_s = now_s + self._delays.settle_s
                return ()
            content = read_unchanged(self.path, signature)
        except (OSError, UserFileError) as error:
            return self._unreadable(error)
        if content is None:
            self.due_s = now_s + self._delays.retry_s
            return ()
        self._signature = signature
        return self._read(content, now_s)

    def _read(self, content: bytes, now_s: float) -> tuple[Report, ...]:
        digest = _digest(content)
        is_new = digest != self.digest
        if is_new and self._is_doubtful(content, now_s):
            return ()
        self._doubted_since_s = None
        self.content, self.digest = content, digest
        back = (Report(sight=Sight.BACK, at_s=self._event_s),) if self._lost else ()
        self._lost = None
        return (*back, Report(sight=Sight.CHANGED, at_s=self._event_s)) if is_new else back

    def _is_doubtful(self, content: bytes, now_s: float) -> bool:
        """Whether an empty or broken file may be an incomplete save, so that another check follows."""
        if not content:
            patience_s = self._delays.empty_s
        elif not parses(self.path, content):
            patience_s = self._delays.second_look_s
        else:
            return False
        if self._doubted_since_s is None:
            self._doubted_since_s = now_s
        deadline_s = self._doubted_since_s + patience_s
        if now_s >= deadline_s:
            return False
        self.due_s = deadline_s
        return True

    def _missing(self, now_s: float) -> tuple[Report, ...]:
        self._signature = self._awaited = None
        gone = (Sight.GONE, "")
        if self._lost == gone:
            return ()
        if self._missing_since_s is None:
            self._missing_since_s = self._event_s
        deadline_s = self._missing_since_s + self._delays.gone_s
        if now_s < deadline_s:
            self.due_s = deadline_s
            return ()
        self._lost = gone
        return (Report(sight=Sight.GONE, at_s=self._event_s),)

    def _unreadable(self, error: OSError | UserFileError) -> tuple[Report, ...]:
        self._signature = self._status()
        self._missing_since_s = None
        reason = reason_of(error) if isinstance(error, OSError) else str(error)
        if self._lost == (Sight.UNREADABLE, reason):
            return ()
        self._lost = (Sight.UNREADABLE, reason)
        return (Report(sight=Sight.UNREADABLE, at_s=self._event_s, reason=reason),)

    def _status(self) -> Signature | None:
        try:
            return signature_of(self.path)
        except OSError:
            return None


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
