"""`kgtui check --stages`: the first intermediate of a task's reference from which a candidate differs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec

from engine.errors import UsageError
from engine.model import CaseResult, Outcome
from engine.problem_source import open_source
from engine.reports.printable import printable
from engine.reports.run_record import RunRecord
from kgtui.cli.choices import require_text
from kgtui.cli.console import Console
from kgtui.cli.runs.run_command import Request
from problems.suites.rewriting.stages import RESULT, not_compared, shared_stages, with_stages
from problems.suites.source import SuiteSource


@dataclass(frozen=True, kw_only=True)
class Stages:
    """The stages that a candidate shares with its reference, and a sentence on each other stage of the reference."""

    names: tuple[str, ...]
    not_compared: tuple[str, ...] = ()


def staged(request: Request) -> tuple[Request, Stages]:
    """The request with file and task changed to return their shared stages, and these stages.

    It is not stored, since the text that runs is not that of the file.

    Raises:
        UsageError: the operator is not a task of a suite, or no stage can be compared.
    """
    source = open_source(request.problem.source)
    if not isinstance(source, SuiteSource):
        raise UsageError("--stages compares intermediates of a suite's reference; name a suite with --suite PATH")
    require_text(request.file)
    task, text = source.task(request.problem.name), request.file.content.decode()
    names = shared_stages(task.text, text, form=task.form, entry=task.entry)
    changed = with_stages(text, names, form=task.form, entry=task.entry, is_reference=False)
    problem = SuiteSource(msgspec.structs.replace(source.choice, stages=names)).problem(request.problem.name)
    file = replace(request.file, content=changed.encode())
    left = not_compared(task.text, text, form=task.form, entry=task.entry)
    return replace(request, file=file, problem=problem, is_kept=False), Stages(names=names, not_compared=left)


def print_stages(request: Request, console: Console, run: RunRecord, found: Stages) -> None:
    """Print how each stage compares; on the error stream if the output is a document."""
    say = console.warn if request.document is not None else console.say
    for text in stage_lines(run, found):
        say(printable(text))


def stage_lines(run: RunRecord, found: Stages) -> list[str]:
    """A line for each stage, for each excluded stage, and for the first difference or why none was compared."""
    compared = [case for case in run.cases if case.outputs]
    if not compared:
        return ["stages: nothing was compared"]
    shown = (*found.names, RESULT)
    lines = [_line(name, place, compared) for place, name in enumerate(shown)]
    differing = [name for place, name in enumerate(shown) if any(_is_wrong(case, place) for case in compared)]
    lines += [f"  not compared: {sentence}" for sentence in found.not_compared]
    return [*lines, f"first stage that differs: {differing[0]}" if differing else "no stage differs"]


def _line(name: str, place: int, compared: Sequence[CaseResult]) -> str:
    wrong = [case for case in compared if _is_wrong(case, place)]
    right = f"  {name:<24} {len(compared) - len(wrong)}/{len(compared)} cases correct"
    if not wrong:
        return right
    output = wrong[0].outputs[place]
    return f"{right}; {wrong[0].case}: {output.message.removeprefix(f'{output.name}: ')}"


def _is_wrong(case: CaseResult, place: int) -> bool:
    return place < len(case.outputs) and case.outputs[place].outcome is not Outcome.PASS
