"""Parses reports of compute-sanitizer: each kind of error at each place once, and how often.

The format is that of NVIDIA's Compute Sanitizer user manual: lines that begin with "=========", the kind of an error,
then indented lines with kernel, place, thread and address.  Releases differ in the words between; an unknown form
counts as an error of its kind without a place.  The text comes from a process that runs the candidate: it can count
against the candidate, never clear it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

_MARK = "========="
_KINDS = re.compile(
    r"(Invalid __\w+__ .*|Misaligned .*|Uninitialized __\w+__ memory .*|Barrier error .*|Program hit .*|"
    r"(?:Error|Warning|WARN|WARNING): (?:Race reported|Potential \w+ hazard).*|Uninitialized access .*)"
)
_RACE = re.compile(r"(?:Error|Warning|WARN|WARNING): Race reported between (\w+) access at (.*)")
_OTHER = re.compile(r"and (\w+) access at (.*?)(?: \[(\d+) hazards?\])?$")
_AT = re.compile(r"at (.*)")
_PLACE = re.compile(r"(?P<kernel>.*?)\+?(?:0x[0-9a-fA-F]+)?(?: in (?P<file>[^:]*):(?P<line>\d+))?$")
_ADDRESS = re.compile(r"(Address 0x[0-9a-fA-F]+.*)")
_SUMMARY = re.compile(r"(?:ERROR|RACECHECK) SUMMARY: (\d+) (?:errors?|hazards?)")


@dataclass(frozen=True, kw_only=True)
class SanitizerError:
    """One kind of error at one place, `count` times; `line` is None if the code has no line numbers."""

    kind: str
    kernel: str = ""
    file: str = ""
    line: int | None = None
    detail: str = ""
    count: int = 1

    @property
    def sentence(self) -> str:
        """Kind, kernel, place, detail and count as one line."""
        place = f"{self.file}:{self.line}" if self.line is not None else ""
        parts = (self.kind, f"in {self.kernel}" if self.kernel else "", f"at {place}" if place else "")
        times = f"{self.count} times" if self.count > 1 else ""
        return ", ".join(filter(None, (" ".join(filter(None, parts)), self.detail, times)))


def errors_of(report: str) -> tuple[SanitizerError, ...]:
    """The errors of a report in the order in which they first occur."""
    found: dict[tuple[object, ...], SanitizerError] = {}
    for lines in _blocks(report):
        error = _error(lines)
        key = (error.kind, error.kernel, error.file, error.line)
        known = found.get(key)
        found[key] = error if known is None else replace(known, count=known.count + error.count)
    return tuple(found.values())


def is_complete(report: str) -> bool:
    """Whether the report ends with the number of its errors, as a finished run does."""
    return _SUMMARY.search(report) is not None


def _blocks(report: str) -> Iterator[list[str]]:
    """The lines of each error without their marks, the kind first."""
    block: list[str] = []
    for line in report.splitlines():
        text = line.removeprefix(_MARK).strip() if line.startswith(_MARK) else None
        if text is None:
            continue
        if _KINDS.match(text):
            if block:
                yield block
            block = [text]
        elif block and text:
            block.append(text)
    if block:
        yield block


def _error(lines: list[str]) -> SanitizerError:
    race = _RACE.match(lines[0])
    if race is not None:
        return _race(race, lines[1:])
    error = SanitizerError(kind=lines[0])
    for line in lines[1:]:
        if not error.kernel and (at := _AT.match(line)):
            error = _placed(error, at.group(1))
        elif not error.detail and (address := _ADDRESS.match(line)):
            error = replace(error, detail=address.group(1))
    return error


def _race(race: re.Match[str], others: list[str]) -> SanitizerError:
    """A race between one access and others; the number of hazards is the count."""
    error, hazards, meets = _placed(SanitizerError(kind=f"Race: {race.group(1)} access"), race.group(2)), 0, []
    for line in others:
        if other := _OTHER.match(line):
            hazards += int(other.group(3) or 1)
            meets.append(f"{other.group(1)} access at {other.group(2)}")
    return replace(error, detail=f"against {'; '.join(meets)}" if meets else "", count=max(1, hazards))


def _placed(error: SanitizerError, place: str) -> SanitizerError:
    """The error with kernel, file and line of "kernel(int *)+0x70 in file.cu:41"."""
    found = _PLACE.match(place.strip())
    if found is None:
        return replace(error, kernel=place.strip())
    line = found.group("line")
    return replace(
        error, kernel=found.group("kernel").strip(), file=found.group("file") or "", line=int(line) if line else None
    )
