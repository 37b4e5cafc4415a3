"""A task with the user's choices: the texts that are run, the contract of its problem, and the changes."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from engine.model import CandidateForm, Case, Category, SuiteOrigin, Tier
from engine.model.parsing import parse
from problems.suites.blobs import fingerprint
from problems.suites.rewriting.sizes import resized
from problems.suites.rewriting.stages import RESULT, with_stages
from problems.suites.settings import PACKED, PRECISION, STAGES, SuiteChoice
from problems.suites.task import Size, SuiteFormat, Task
from problems.suites.texts.syntax import functions

_DRAWS = 5
_HARNESS = "problems.suites.harness"
_PACKED_NAME = "inputs"
_BENCHMARK = "benchmark"
CASE = "case"
"""The parameter of a problem's case that has the harness's name of the case."""
WRITTEN = "written"
"""The last argument of a CALL that may write: pairs of a tensor's index among its arguments, and that tensor."""
_OF_MODULES = ("init_inputs", "module_state", "weight_seed", "call_options")


@dataclass(frozen=True, kw_only=True)
class PlannedTask:
    """A task as it is verified. `contract` are the fields of its ProblemContract, `sizes` its current constants.

    `files` are texts by their names, `file` is the name of the one to import, `version` the hash of all fields.
    """

    task: Task
    contract: Mapping[str, Any]  # Any: the fields of a ProblemContract, which checks them
    harness: str
    file: str
    files: Mapping[str, str]
    details: Mapping[str, str]
    sizes: Mapping[str, Size]
    version: str


def planned(task: Task, suite: SuiteFormat, choice: SuiteChoice) -> PlannedTask:
    """The task under these choices.

    Raises:
        UsageError: a chosen size does not exist in the task.
        SyntaxError: its text does not parse.
    """
    changed: Mapping[str, tuple[Size, Size]] = {}
    text = task.text
    if choice.cap is not None or choice.sizes:
        smaller = resized(text, cap=choice.cap, chosen=choice.sizes)
        text, changed = smaller.text, smaller.changed
    if choice.stages:
        text = with_stages(text, choice.stages, form=task.form, entry=task.entry, is_reference=True)
    file = f"{task.name.rpartition('/')[2]}.py"
    files = {**task.sources, file: text}
    details = {
        **task.details,
        PRECISION: choice.accuracy,
        PACKED: "" if task.arguments is not None else PACKED,
        STAGES: " ".join(choice.stages),
    }
    name = f"{suite.id}::{task.name}"
    return PlannedTask(
        task=task,
        contract={
            "name": name,
            "entry": task.entry,
            "signature": f"{task.entry}({', '.join(argument_names(task))})",
            "summary": " · ".join(dict.fromkeys(part for part in (task.title, task.level, task.category) if part)),
            "category": Category.OTHER,
            "cases": tuple(_cases(task, choice, changed)),
            "returns": 0 if task.outputs else None,
            "mutates": task.outputs or ((WRITTEN,) if task.writes else ()),
            "written_only": task.outputs,
            "may_write": task.arguments or () if task.form is CandidateForm.SUBMISSION else (),
            "suite": SuiteOrigin(
                suite=suite.title, form=task.form, own_rule=task.own_rule.sentence, refusal=task.refusal,
                notes=(*_notes(task, choice), *task.health), changes=_changes(changed), category=task.category,
                level=task.level, signature=shown_signature(task), modules=tuple(task.modules.items()), fp4=task.fp4,
            ),
        },
        harness=f"{_HARNESS}.{task.harness}",
        file=file,
        files=files,
        details=details,
        sizes={**task.constants, **{name: now for name, (_, now) in changed.items()}},
        version=_version(task, files, details),
    )  # fmt: skip


def argument_names(task: Task) -> tuple[str, ...]:
    """The arguments of the problem: the inputs, or all inputs as one, and the constructor arguments of a module."""
    if task.form is CandidateForm.CALL:
        return ("args", "kwargs", *((WRITTEN,) if task.writes else ()))
    if task.form is CandidateForm.DESTINATION:
        return (*(task.arguments or ()), *task.outputs)
    inputs = task.arguments if task.arguments is not None else (_PACKED_NAME,)
    if task.form is not CandidateForm.MODULE:
        return inputs
    return (*(f"{name}_" if name in _OF_MODULES else name for name in inputs), *_OF_MODULES)


def shown_signature(task: Task) -> str:
    """Signature that a candidate defines, in the suite's form of call: `ModelNew(*get_init_inputs()).forward(x)`."""
    if task.form is CandidateForm.CALL:
        return f"{task.entry}({_parameters(task)})"
    if task.form is not CandidateForm.MODULE:
        return f"{task.entry}({', '.join(argument_names(task))})"
    inputs = ", ".join(task.arguments) if task.arguments is not None else "*get_inputs()"
    return f"{task.entry}(*get_init_inputs()).forward({inputs})"


def _parameters(task: Task) -> str:
    """The parameters of the reference's function with their defaults."""
    try:
        function = functions(parse(task.text)).get(task.entry)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "*args, **kwargs"
    return ast.unparse(function.args) if function is not None else "*args, **kwargs"


def _cases(task: Task, choice: SuiteChoice, changed: Mapping[str, tuple[Size, Size]]) -> Iterator[Case]:
    """The task's own cases; else one for each draw of inputs. The first is SMOKE; at least one is for timing."""
    if task.cases:
        yield from _named_cases(task.cases, choice)
        return
    sizes = {name: now for name, (_, now) in changed.items()}
    for draw in range(1, _DRAWS + 1):
        tier = Tier.SMOKE if draw == 1 else Tier.FULL
        yield Case(name=f"draw {draw}", dtype=choice.accuracy.dtype, tier=tier, params={"draw": draw, **sizes})
    yield Case(name="timed", dtype=choice.accuracy.dtype, tier=Tier.BENCH, params={"draw": _DRAWS + 1, **sizes})


def _named_cases(names: tuple[str, ...], choice: SuiteChoice) -> Iterator[Case]:
    """One case per name, benchmarks for timing; if there are no benchmarks, the last case is timed too."""
    dtype = choice.accuracy.dtype
    timed = [name for name in names if name.startswith(_BENCHMARK)]
    for number, name in enumerate(names):
        tier = Tier.BENCH if name in timed else Tier.SMOKE if number == 0 else Tier.FULL
        yield Case(name=name, dtype=dtype, tier=tier, params={CASE: name})
    if not timed:
        yield Case(name=f"timed {names[-1]}", dtype=dtype, tier=Tier.BENCH, params={CASE: names[-1]})


def _changes(changed: Mapping[str, tuple[Size, Size]]) -> tuple[str, ...]:
    sizes = ", ".join(f"{name} {before} -> {now}" for name, (before, now) in changed.items())
    return (f"sizes changed from the suite's: {sizes}",) if changed else ()


def _notes(task: Task, choice: SuiteChoice) -> Iterator[str]:
    if choice.stages:
        yield f"compared in this order: {', '.join((*choice.stages, RESULT))}"
    if choice.accuracy != "fp32":
        yield f"floating inputs and weights are {choice.accuracy.dtype}"
    if task.writes:
        yield f"tensors that the reference writes in place are compared too, as {WRITTEN}[0], {WRITTEN}[1], ..."


def _version(task: Task, files: Mapping[str, str], details: Mapping[str, str]) -> str:
    blobs = [(name, fingerprint(file)) for name, file in sorted(task.blobs.items())]
    texts = (part for item in sorted(files.items()) for part in item)
    parts = (task.name, *texts, repr(sorted(details.items())), *([repr(blobs)] if blobs else []))
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
