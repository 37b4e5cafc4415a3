"""Tools of an agent: operators, runs, reasons, history.  Results are Markdown; errors are sentences.

All tools only read, except `check` and `benchmark`, which run a source as a save does.  The docstrings of the tools are
their descriptions for agents.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from inspect import signature as inspect_signature
from typing import Protocol

from engine.errors import UsageError
from engine.inspection.evidence import inspect
from engine.inspection.text import as_markdown as inspection_markdown
from engine.model import Outcome, Problem, Tier
from engine.problem_source import ProblemDescription
from engine.reports.markdown import as_markdown
from engine.reports.run_record import RunRecord
from kgtui.generation.prompts import Hardware, Prompts, prompt_text
from kgtui.generation.verifying import Verifier
from kgtui.ports.protocols import PastRun
from kgtui.ports.requests import AGENT_TAG
from kgtui.state.format.glyphs import ASCII
from kgtui.state.run.failed_case import case_text

MOST_SOURCE_BYTES = 400_000
_MOST_RUNS = 50


class AgentRecording(Protocol):
    """Interface of the store for an agent's tools."""

    def run_record(self, number: int) -> RunRecord:
        """A stored run."""

    def source(self, digest: str) -> bytes:
        """A stored source."""

    def runs(self, problem: str, *, limit: int) -> tuple[PastRun, ...]:
        """The newest runs of an operator."""


class Operators(Protocol):
    """The index of operators."""

    def descriptions(self) -> tuple[tuple[ProblemDescription, ...], tuple[str, ...]]:
        """All descriptions, and the errors of invalid problem files."""

    def find(self, name: str) -> Problem:
        """The operator of this name."""

    def describe(self, name: str) -> ProblemDescription:
        """Description of the operator from its file."""


@dataclass(frozen=True, kw_only=True)
class ToolMeans:
    """Dependencies of the tools; `verifier_of` makes a verifier for tiers, with a benchmark or without."""

    operators: Operators
    recording: AgentRecording
    verifier_of: Callable[[tuple[Tier, ...], bool], Verifier]
    prompts: Prompts
    hardware: Hardware
    versions: Mapping[str, str]


class AgentTools:
    """The tools; each method is one."""

    def __init__(self, means: ToolMeans) -> None:
        self._means = means

    async def list_problems(self, pattern: str = "*") -> str:
        """List operators whose names match a pattern such as "aten::*" or "*norm", each with its signature."""
        described, _ = await asyncio.to_thread(self._means.operators.descriptions)
        found = [one for one in described if _matches(one.name, pattern)]
        if not found:
            raise UsageError(f"no operator matches {pattern[:60]!r}; list_problems without a pattern lists all")
        return "\n".join(f"- {one.name}: {one.signature}: {one.summary}" for one in found)

    async def read_problem(self, operator: str) -> str:
        """Read the task for an operator: signature, semantics, contract, hardware, cases and tolerances."""
        problem, described = await asyncio.to_thread(self._problem, operator)
        return prompt_text(self._means.prompts.problem(problem, described, self._means.hardware))

    async def check(self, operator: str, source: str, smoke_only: bool = False) -> str:
        """Verify a kernel file. `source` is the whole file. smoke_only runs the small cases alone, in milliseconds.

        The report has the verdict, the number of passed cases, each failed case with its diagnosis, findings, registers
        and spills.
        """
        tiers = (Tier.SMOKE,) if smoke_only else (Tier.SMOKE, Tier.FULL)
        run = await self._run(operator, source, tiers=tiers, is_timed=False)
        return as_markdown(run, with_passed_cases=False)

    async def benchmark(self, operator: str, source: str) -> str:
        """Verify a kernel file, then time it against PyTorch eager. Needs a GPU; without one nothing is timed."""
        run = await self._run(operator, source, tiers=(Tier.SMOKE, Tier.FULL), is_timed=True)
        note = (
            "" if run.benchmarks else "\n\nNothing was timed: there is no device here that can be timed, or it failed."
        )
        return as_markdown(run, with_passed_cases=False) + note

    async def inspect(self, run: int) -> str:
        """Inspect a run of this store: what was checked, each layer's evidence, and what could not be checked."""
        record = await asyncio.to_thread(self._means.recording.run_record, run)
        problem, _ = await asyncio.to_thread(self._problem, record.problem)
        source = await asyncio.to_thread(self._means.recording.source, record.digest)
        inspection = inspect(
            record,
            problem=problem,
            source=source.decode(errors="replace"),
            claim=None,
            versions=self._means.versions,
            inspected_at=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        return inspection_markdown(inspection)

    async def explain_failed_case(self, run: int, case: str = "") -> str:
        """Explain why a case of a run failed: expected and got, where, the likely cause. Default: the first failed."""
        record = await asyncio.to_thread(self._means.recording.run_record, run)
        failed = [one for one in record.cases if one.outcome is not Outcome.PASS]
        found = next((one for one in failed if case in ("", one.case)), None)
        if found is None:
            names = ", ".join(one.case for one in failed)
            hint = f" {case!r}; use one of {names}" if names else ""
            raise UsageError(f"run {run} has no failed case{hint}")
        return case_text(found, glyphs=ASCII, number=run)

    async def read_history(self, operator: str, limit: int = 10) -> str:
        """List the newest runs of an operator with their verdicts, by anyone."""
        if limit < 1:
            raise UsageError(f"limit must be at least 1, got {limit}")
        problem, _ = await asyncio.to_thread(self._problem, operator)
        runs = await asyncio.to_thread(self._means.recording.runs, problem.name, limit=min(limit, _MOST_RUNS))
        if not runs:
            return f"{problem.name} has no runs yet"
        return "\n".join(
            f"- run {one.number}: {'flagged' if one.flagged else one.outcome or 'no verdict'}, "
            f"{one.passed}/{one.total} cases, {one.device}{_reviewed(one)}"
            for one in runs
        )

    async def _run(self, operator: str, source: str, *, tiers: tuple[Tier, ...], is_timed: bool) -> RunRecord:
        content = source.encode(errors="surrogateescape")
        if len(content) > MOST_SOURCE_BYTES:
            raise UsageError(f"the source has {len(content):,} bytes; at most {MOST_SOURCE_BYTES:,} are run")
        problem, _ = await asyncio.to_thread(self._problem, operator)
        return await self._means.verifier_of(tiers, is_timed).verify(problem, content, name=AGENT_TAG)

    def _problem(self, operator: str) -> tuple[Problem, ProblemDescription]:
        problem = self._means.operators.find(operator)
        return problem, self._means.operators.describe(problem.name)


def _matches(name: str, pattern: str) -> bool:
    """Whether the pattern is for this operator, with or without its library, as in other tools."""
    return fnmatchcase(name, pattern) or fnmatchcase(name.rpartition("::")[2], pattern)


def _reviewed(run: PastRun) -> str:
    """The user's review of a run: an agent should continue from a pinned one, not from a vetoed one."""
    return f", {run.review} by the user" if run.review else ""


TOOLS = ("list_problems", "read_problem", "check", "benchmark", "inspect", "explain_failed_case", "read_history")


def tools_markdown() -> str:
    """The table of tools in the manual."""
    rows = []
    for name in TOOLS:
        tool = getattr(AgentTools, name)
        arguments = ", ".join(one for one in inspect_signature(tool).parameters if one != "self")
        rows.append(f"| `{name}({arguments})` | {' '.join((tool.__doc__ or '').split())} |")
    return "\n".join(("| tool | what it does |", "|---|---|", *rows)) + "\n"
