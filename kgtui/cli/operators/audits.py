"""Audits of operators: those of the catalogue and own folders each in a process, those of suites on an engine.

The reference of a suite is foreign code: it runs in a confined process, which the judge calls.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol, TypeAlias

import msgspec

from engine.artefacts import ArtefactStore
from engine.errors import EngineError, UnsupportedError
from engine.model import Problem
from engine.model.problems.health import Weakness

_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR")
_TIMEOUT_S = 300


class Health(msgspec.Struct, frozen=True):
    """The weaknesses of a problem of this version; `error` is the reason why it could not be audited."""

    version: str
    weaknesses: tuple[Weakness, ...] = ()
    error: str = ""

    @property
    def deciding(self) -> tuple[str, ...]:
        """The weaknesses on which a verdict depends: excluding those of a suite's own rule."""
        return tuple(one.text for one in self.weaknesses if not one.defect.is_of_own_rule)


class AuditingEngine(Protocol):
    """An engine that audits the tasks of suites."""

    async def audit(self, problem: Problem) -> tuple[Weakness, ...]:
        """Every weakness; raises EngineError or UnsupportedError where it could not be audited."""
        ...


MakeEngine: TypeAlias = Callable[[], AbstractAsyncContextManager[AuditingEngine]]
OnHealth: TypeAlias = Callable[[str, Health], None]


def audit_own(
    names: Sequence[tuple[str, str]], *, jobs: int, environment: Mapping[str, str], on_health: OnHealth
) -> None:
    """Audit operators, each a source and a name, and report the health of each in order."""
    with ThreadPoolExecutor(jobs) as pool:
        for (_, name), health in zip(
            names, pool.map(lambda one: _audited(one[0], one[1], environment), names), strict=True
        ):
            on_health(name, health)


def _audited(source: str, name: str, environment: Mapping[str, str]) -> Health:
    """The health of a problem, from a process that imports torch; a process that fails is the problem's fault."""
    command = [sys.executable, "-I", "-m", "problems.rules.audit", source, name]
    kept = {key: environment[key] for key in _PASSED_ON if key in environment}
    try:
        ended = subprocess.run(command, capture_output=True, env=kept, timeout=_TIMEOUT_S, check=False)
        return msgspec.json.decode(ended.stdout, type=Health)
    except subprocess.TimeoutExpired:
        return Health(version="", error=f"the reference timed out after {_TIMEOUT_S} s")
    except msgspec.MsgspecError:
        said = ended.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        return Health(version="", error=f"the process exited with status {ended.returncode}: {said}")


async def audit_tasks(problems: Sequence[Problem], *, jobs: int, make_engine: MakeEngine, on_health: OnHealth) -> None:
    """Audit tasks of suites on the given number of engines, and report the health of each as it is known.

    Raises:
        EngineError: no engine could be started.
    """
    waiting = list(reversed(problems))

    async def work() -> None:
        async with make_engine() as engine:
            while waiting:
                problem = waiting.pop()
                on_health(problem.name, await _audited_task(problem, engine))

    async with asyncio.TaskGroup() as group:
        for _ in range(min(jobs, len(problems))):
            group.create_task(work())


async def _audited_task(problem: Problem, engine: AuditingEngine) -> Health:
    version = problem.version
    if problem.suite is not None and problem.suite.refusal:
        return Health(version=version, error=f"cannot be run: {problem.suite.refusal}")
    try:
        return Health(version=version, weaknesses=await engine.audit(problem))
    except (EngineError, UnsupportedError) as error:
        return Health(version=version, error=str(error))


def audit_tasks_here(
    problems: Sequence[Problem], *, jobs: int, environment: Mapping[str, str], on_health: OnHealth
) -> None:
    """Audit tasks of suites on engines of the CPU of this machine; raises as `audit_tasks` does."""
    from engine.engine import Engine  # imported late: operators of the catalogue need no engine

    with tempfile.TemporaryDirectory(prefix="kgtui-") as folder:
        artefacts = ArtefactStore(folder=Path(folder))

        def make_engine() -> AbstractAsyncContextManager[AuditingEngine]:
            return Engine(device="cpu", artefacts=artefacts, environment=environment)

        asyncio.run(audit_tasks(problems, jobs=jobs, make_engine=make_engine, on_health=on_health))
