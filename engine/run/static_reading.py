"""Static reading of a candidate: in this process when it is small, else in a separate one.

Python's parser holds the interpreter lock, and an identifier of combining characters takes it time quadratic in its
length.  So a large text is parsed and read in a child with a limit of its CPU time.  A reading that the child does not
finish is a finding, "could not check", and the candidate is run all the same: its worker determines whether it loads.
"""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import msgspec

from engine.errors import EngineError
from engine.model import Candidate, Determinism, Finding, Location, Plan, Problem
from engine.model.native import Extension
from engine.processes.single_task import ask_apart, limit_this_process
from engine.static.analysis import Reading
from engine.static.checks import REFUTED_BY_PROOF, grouped, read_statically
from engine.static.findings import could_not_check
from engine.static.native.extensions import extensions_of, may_compile
from engine.static.source import (
    Source,
    SourceError,
    decode,
    is_quickly_parsed,
    read_source,
    sibling_imports,
)
from engine.static.strict import breaches, unread_breach, unread_import
from engine.verdict.decide import Breach
from engine.verdict.policy import WEIGHTS

CPU_S = 20
_MEMORY_BYTES = 6 << 30
_MAX_REPLY_BYTES = 32 << 20
_PERMITTED = {Determinism.UNSPECIFIED: ("unwritten_output",), Determinism.RANDOM: ("reads_random_state",)}


@dataclass(frozen=True, kw_only=True)
class StaticRead:
    """Findings of the checks in a text, and the rules that it breaks if the policy has rules.

    Without rules, findings that a proof may refute are not merged.

    `failed` is the error of the first check that raised one, "" if none did.
    """

    findings: tuple[Finding, ...] = ()
    breaches: tuple[Breach, ...] = ()
    extensions: tuple[Extension, ...] = ()
    failed: str = ""


class Request(msgspec.Struct, forbid_unknown_fields=True):
    """A text to read; `folder` is a path as bytes (`os.fsencode`), None if no file beside it counts.

    `permits` names the checks whose pattern the operator permits.
    """

    source: bytes
    problem: str
    filename: str
    entry: str
    signature: str
    refuses: bool
    folder: bytes | None
    permits: tuple[str, ...] = ()


class Reply(msgspec.Struct, forbid_unknown_fields=True):
    """Reply to a request; `error` if the text is not a candidate, `failed` as in StaticRead."""

    findings: tuple[Finding, ...] = ()
    breaches: tuple[Breach, ...] = ()
    extensions: tuple[Extension, ...] = ()
    failed: str = ""
    error: str = ""
    location: Location | None = None


@dataclass(frozen=True, kw_only=True)
class Parsed:
    """A parsed candidate: with a tree if parsed in this process, else with the findings of the child."""

    request: Request
    source: Source | None = None
    read: StaticRead | None = None


async def parse_candidate(candidate: Candidate, plan: Plan, *, cpu_s: int = CPU_S) -> Parsed:
    """Parse the text, and read it if that is done in a child.

    Raises:
        SourceError: not text, not Python, or without the entry.
    """
    decode(candidate.source, candidate.filename)
    request = Request(
        source=candidate.source,
        problem=candidate.problem,
        filename=candidate.filename,
        entry=plan.problem.entry,
        signature=plan.problem.signature,
        refuses=WEIGHTS[plan.policy].refuses,
        folder=os.fsencode(candidate.folder) if candidate.folder is not None else None,
        permits=permitted_checks(plan.problem),
    )
    if is_quickly_parsed(candidate.source):
        source = await asyncio.to_thread(read_source, candidate, plan.problem.entry)
        return Parsed(request=request, source=source)
    try:
        answer = await ask_apart(
            __name__,
            msgspec.json.encode(request),
            cpu_s=cpu_s,
            memory_bytes=_MEMORY_BYTES,
            max_reply_bytes=_MAX_REPLY_BYTES,
        )
        reply = msgspec.json.decode(answer, type=Reply)
    except (EngineError, OSError, msgspec.MsgspecError) as error:
        why = f"{error}; the file has {len(candidate.source):,} bytes"
        return Parsed(request=request, read=_unread(request, why))
    if reply.error:
        raise SourceError(reply.error, reply.location)
    read = StaticRead(
        findings=reply.findings, breaches=reply.breaches, extensions=reply.extensions, failed=reply.failed
    )
    return Parsed(request=request, read=read)


async def read_parsed(parsed: Parsed) -> StaticRead:
    """Findings of the checks in a parsed text."""
    if parsed.read is not None:
        return parsed.read
    assert parsed.source is not None
    return await asyncio.to_thread(_read, parsed.request, parsed.source)


def _read(request: Request, source: Source) -> StaticRead:
    failures: dict[str, str] = {}
    every = read_statically(source.tree, source.text, request.entry, on_failure=failures.setdefault)
    permitted = (one for one in every if one.check not in request.permits)
    found = tuple(grouped(permitted, apart=() if request.refuses else REFUTED_BY_PROOF))
    failed = next((f"{name}: {why}" for name, why in failures.items() if name not in request.permits), "")
    extensions = _extensions(request, source)
    if failed or not request.refuses:
        return StaticRead(findings=found, extensions=extensions, failed=failed)
    folder = Path(os.fsdecode(request.folder)) if request.folder is not None else None
    unread = sibling_imports(source.tree, folder) if folder is not None else ()
    broken = breaches(source.tree, source.text, request.entry, found, signature=request.signature)
    return StaticRead(findings=found, breaches=(*broken, *map(unread_import, unread)), extensions=extensions)


def permitted_checks(problem: Problem) -> tuple[str, ...]:
    """The checks whose pattern this operator permits: it needs no kernel, draws numbers, or has unspecified content."""
    needs_no_kernel = ("no_kernel",) if problem.framework else ()
    return (*needs_no_kernel, *_PERMITTED.get(problem.determinism, ()))


def _extensions(request: Request, source: Source) -> tuple[Extension, ...]:
    """The native code of the file; none if it could not be read, which is then a finding."""
    if not may_compile(source.text):
        return ()
    try:
        return extensions_of(Reading(source.tree, text=source.text, entry=request.entry))
    except RecursionError:
        return ()


def _unread(request: Request, why: str) -> StaticRead:
    """The result for a text that could not be read, which a policy with static rules refuses."""
    finding = could_not_check("reading", why)
    return StaticRead(findings=(finding,), breaches=(unread_breach(finding),) if request.refuses else ())


def main(arguments: list[str]) -> None:
    """The child: one request on the standard input, one reply on the standard output."""
    limit_this_process(arguments)
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=Request)
    try:
        candidate = Candidate(source=request.source, problem=request.problem, filename=request.filename)
        read = _read(request, read_source(candidate, request.entry))
        reply = Reply(findings=read.findings, breaches=read.breaches, extensions=read.extensions, failed=read.failed)
    except SourceError as error:
        if isinstance(error.__cause__, MemoryError):
            raise  # possibly our own memory limit: the worker finds out whether Python can load the file
        reply = Reply(error=str(error), location=error.location)
    sys.stdout.buffer.write(msgspec.json.encode(reply))


if __name__ == "__main__":
    main(sys.argv[1:])
