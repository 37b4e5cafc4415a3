"""Candidates of one operator as versions of its file: stored answers, then those in flight.  Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kgtui.generation.budget import usd_text
from kgtui.generation.events import CandidateSaved
from kgtui.generation.extraction import extract
from kgtui.generation.lines import money_text
from kgtui.generation.progress import GenerationProgress, RunInFlight
from sessions.candidates.generation_rows import GenerationRow, GenerationState, Stop

_FENCES = ("```", "~~~")


@dataclass(frozen=True, kw_only=True)
class VersionKey:
    """Identity of an answer, the same in flight and when stored."""

    batch: int | None
    model: str
    place: str


@dataclass(frozen=True, kw_only=True)
class Version:
    """One candidate; `row` is None while its answer arrives, `run` None unless it is being verified.

    `save` is the last file that a working agent saved; `is_awaited` is True while the candidate's batch is running.
    """

    key: VersionKey
    answer: str
    row: GenerationRow | None = None
    run: RunInFlight | None = None
    save: CandidateSaved | None = None
    is_awaited: bool = True

    @property
    def label(self) -> str:
        """Model and position, "openai:m sample-1"."""
        return f"{self.key.model} {self.key.place}"

    @property
    def run_number(self) -> int | None:
        """The stored run with its verdict; None before there is one."""
        run = self.row.run if self.row is not None else None
        return run.number if run is not None and run.outcome is not None else None

    @property
    def is_settled(self) -> bool:
        """Whether it no longer changes by itself."""
        is_done = self.row is not None and (self.row.digest is None or self.run_number is not None)
        return is_done or not self.is_awaited

    def source(self, entry: str) -> str | None:
        """The kernel file in the answer, or the one saved by an agent; None without one."""
        if self.row is None:
            return self.save.source.decode("utf-8", errors="replace") if self.save is not None else None
        return extract(self.answer, entry=entry, stop=self.row.stop or Stop.CUT).source


def versions_of(rows: Sequence[GenerationRow], progress: GenerationProgress, *, problem: str) -> tuple[Version, ...]:
    """The candidates for this operator, the oldest first."""
    running = {_key(progress, spot.model, spot.place): run for spot, run in progress.running.items()}
    stored = {
        VersionKey(batch=row.batch, model=row.model_name, place=row.place): row
        for row in rows
        if row.state is GenerationState.SETTLED and row.problem == problem
    }
    awaited = progress.number if progress.is_running else None
    in_flight = {
        _key(progress, spot.model, spot.place): (text, progress.saved.get(spot))
        for spot, text in progress.streaming.items()
        if spot.problem == problem
    }
    return (
        *(
            Version(
                key=key,
                answer=row.received,
                row=row,
                run=running.get(key),
                is_awaited=awaited is not None and key.batch == awaited,
            )
            for key, row in stored.items()
        ),
        *(
            Version(key=key, answer=text, run=running.get(key), save=save)
            for key, (text, save) in in_flight.items()
            if key not in stored
        ),
    )


def next_shown(versions: Sequence[Version], shown: VersionKey | None, *, batch: int | None) -> Version | None:
    """The version to show while a batch is followed: the shown one until it is settled, then the next.

    The last of the batch stays when the batch is complete.
    """
    of_batch = [one for one in versions if one.key.batch == batch]
    current = next((one for one in of_batch if one.key == shown), None)
    if current is not None and not current.is_settled:
        return current
    unsettled = [one for one in of_batch if not one.is_settled]
    return unsettled[0] if unsettled else current or (of_batch[-1] if of_batch else None)


def stepped(versions: Sequence[Version], shown: VersionKey | None, step: int) -> Version | None:
    """The version after (1) or before (-1) the shown one; without one the newest.  None beyond the ends."""
    if not versions:
        return None
    keys = [one.key for one in versions]
    if shown not in keys:
        return versions[-1]
    place = keys.index(shown) + step
    return versions[place] if 0 <= place < len(versions) else None


def as_python(answer: str) -> str:
    """An answer as a text of Python: code as it is, everything outside of code blocks as comments."""
    lines: list[str] = []
    fence = ""
    for line in answer.splitlines():
        start = line.lstrip(" ")[:3]
        if fence and start == fence and not line.strip().strip(fence[0]):
            fence = ""
        elif not fence and start in _FENCES:
            fence = start
        else:
            lines.append(line if fence or not line else f"# {line}")
    return "\n".join(lines)


def arriving_text(version: Version, progress: GenerationProgress) -> str:
    """Progress of the answer, and cost of the batch so far."""
    others = len(progress.streaming) - 1
    beside = f", {others} more in flight" if others > 0 else ""
    answers = f"{progress.answered}/{progress.total} answers, {money_text(progress)} so far"
    arrived = f"save {version.save.save}" if version.save is not None else f"{len(version.answer):,} characters"
    return f"{arrived}{beside}; {answers}"


def stored_text(version: Version, place: int, total: int) -> str:
    """Number of the version and its cost; the reason if it has no code or no verdict."""
    row = version.row
    assert row is not None, "it is stored"
    cost = "cost unknown" if row.cost_microusd is None else usd_text(row.cost_microusd)
    where = f"version {place}/{total} {cost}"
    if row.digest is None:
        return f"no code: {row.extraction} ({where})"
    return where if version.run_number is not None or version.is_awaited else f"not run: its batch ended ({where})"


def _key(progress: GenerationProgress, model: str, place: str) -> VersionKey:
    return VersionKey(batch=progress.number, model=model, place=place)
