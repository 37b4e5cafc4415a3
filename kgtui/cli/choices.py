"""From the command line and the kernel file's directives to records: operator, device, target, folder.

An argument overrides a directive in the file, a directive the settings, these the default. Errors are raised before any
child process is started.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.devices import Device, detect_all, platform_named
from engine.devices.hardware.targets import DEFAULT_TARGET, asked_target
from engine.errors import UnsupportedError, UsageError
from engine.model import Candidate, Case, Problem, Tier
from engine.reports.printable import printable
from engine.static.source import SourceError, decode, directives, unknown_directives
from kgtui.files import disk
from kgtui.files.kernel_folder import SAMPLES
from kgtui.settings.preferences import NO_TARGET
from problems.index import ProblemIndex

FILES_OF_CANDIDATES = (".json", ".jsonl", ".txt", ".md")
"""Suffixes of files that hold many candidates, or none in Python; no command runs one as a kernel file."""

SAMPLE_OPERATOR = "aten::softmax"
SAMPLE = SAMPLES / "softmax.py"

_TIERS_BY_WORD = {"smoke": (Tier.SMOKE,), "full": (Tier.SMOKE, Tier.FULL)}


@dataclass(frozen=True, kw_only=True)
class KernelFile:
    """A kernel file that was read; `shown` is its path as the user typed it, `complaint` about its directives."""

    path: Path
    shown: str
    content: bytes
    directives: dict[str, str]
    complaint: str = ""

    def candidate(self, problem: Problem) -> Candidate:
        """The candidate for the engine."""
        return Candidate(
            source=self.content, problem=problem.name, filename=printable(self.path.name), folder=self.path.parent
        )


def read_kernel(path: Path, *, shown: str) -> KernelFile:
    """Read a kernel file and its directives.  A binary file has none; its run reports the error.

    Raises:
        UsageError: it cannot be read, or its path cannot be sent to a worker.
    """
    content = disk.read(path)
    if not _is_text(str(path.parent)):
        raise UsageError(f"{printable(shown)}: the name of its folder is not UTF-8; move the file to another folder")
    try:
        text = decode(content, path.name)
    except SourceError:
        text = ""
    words = unknown_directives(text)
    complaint = f"{printable(shown)}, {words}" if words else ""
    return KernelFile(
        path=path, shown=printable(shown), content=content, directives=directives(text), complaint=complaint
    )


def problem_for(file: KernelFile, typed: str | None, index: ProblemIndex) -> Problem:
    """The operator given as an argument, or by the file's directive.

    Raises:
        UsageError: neither names one, or there is no such operator.
    """
    if typed is not None:
        return index.find(typed)
    named = file.directives.get("op")
    if named is None:
        require_text(file)
        raise UsageError(
            f"{file.shown} names no operator: give --op OP, or start the file with `# kgtui: op={SAMPLE_OPERATOR}`"
        )
    try:
        return index.find(named)
    except UsageError as error:
        raise UsageError(f"{file.shown}, its `# kgtui:` line: {error}") from error


def require_text(file: KernelFile) -> None:
    """Raise unless the file is text.

    Raises:
        UsageError: it is not text, so it cannot name an operator either.
    """
    try:
        decode(file.content, file.shown)
    except SourceError as error:
        raise UsageError(str(error)) from error


def tiers_for(file: KernelFile, typed: str | None) -> tuple[Tier, ...]:
    """The tiers to run, lightest first.

    Raises:
        UsageError: the file names other ones.
    """
    word = typed or file.directives.get("cases", "full")
    if word not in _TIERS_BY_WORD:
        known = " or ".join(_TIERS_BY_WORD)
        raise UsageError(f"{file.shown}, its `# kgtui:` line: cases={word} should be {known}")
    return _TIERS_BY_WORD[word]


def words_on_cases(file: KernelFile, problem: Problem, tiers: Sequence[Tier]) -> str:
    """The number of cases that the file's own line leaves out; "" if it leaves out none."""
    cases = [case for case in problem.cases if case.tier in _TIERS_BY_WORD["full"]]
    left_out = sum(case.tier not in tiers for case in cases)
    if not left_out:
        return ""
    where = f"{file.shown}, its `# kgtui:` line: cases={file.directives['cases']}"
    return f"{where} leaves out {left_out} of {len(cases)} cases; --cases full verifies all"


def words_on_no_target(file: KernelFile, device: Device) -> str:
    """Warning for a file whose own line leaves out the compilation."""
    where = f"{file.shown}, its `# kgtui:` line: target={NO_TARGET}"
    return f"{where} leaves out the compilation; --target {device.target or DEFAULT_TARGET} compiles its kernels"


def timed_cases(problem: Problem, typed: Sequence[str]) -> tuple[Case, ...]:
    """The cases to time, in the problem's order: all of a requested tier, and those requested by name.

    Raises:
        UsageError: there is no such tier or case, or none of that tier.
    """
    tiers = {tier.value for tier in Tier}
    known = {*tiers, *(case.name for case in problem.cases)}
    for word in typed:
        if word not in known:
            near = difflib.get_close_matches(word, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"use {', '.join(Tier)} or a case's name"
            raise UsageError(
                f"unknown case {printable(word)!r} of {problem.name}: {hint} (`kgtui problems show {problem.name}`)"
            )
        if word in tiers and all(case.tier != word for case in problem.cases):
            raise UsageError(
                f"{problem.name} has no {word} cases; `kgtui problems show {problem.name}` lists its cases"
            )
    return tuple(case for case in problem.cases if case.tier in typed or case.name in typed)


def device_for(typed: str | None) -> Device:
    """Device 0 of the requested platform; else the first accelerator, else the CPU.

    Raises:
        UsageError: there is no such platform.
        UnsupportedError: it has no device on this machine.
    """
    if typed is None:
        return detect_all()[0]
    devices = platform_named(typed).detect()
    if not devices:
        raise UnsupportedError(
            f"there is no {typed} device on this machine; `kgtui doctor` lists its devices; --device cpu always works"
        )
    return devices[0]


def target_for(
    typed: str | None, *, device: Device, file: KernelFile | None = None, preferred: str | None = None
) -> str | None:
    """Target of the compilation; None for none.  The kernel file's directive comes before `preferred`.

    Raises:
        UsageError: there is no such target.
    """
    directive = file.directives.get("target") if file is not None else None
    asked = typed or directive or preferred
    if asked is None:
        return device.target or DEFAULT_TARGET
    try:
        return None if asked == NO_TARGET else asked_target(asked).name
    except UsageError as error:
        if typed or file is None or directive is None:
            raise
        raise UsageError(f"{file.shown}, its `# kgtui:` line: {error}") from error


def _is_text(name: str) -> bool:
    """Whether a file name can be written as UTF-8; other bytes are surrogates."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
