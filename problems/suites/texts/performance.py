"""Performance files of KernelBench-X and TritonBench: whether a file has usable inputs, determined from its text."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

from engine.model.parsing import parse
from problems.suites.files import SuiteFileError, text_of
from problems.suites.task import Task
from problems.suites.texts.call_sites import call_sites
from problems.suites.texts.syntax import functions

FIRST, LAST = "benchmark first", "benchmark last"
"""Names of the two cases: the first input of a performance file, and the last one that is not too large."""

_METHODS = frozenset({"get_input_tensors", "to_cuda", "call_op"})


def with_performance(task: Task, file: Path, *, root: Path, is_random: bool) -> Task:
    """The task with two cases for timing; unchanged if it has no performance file or no other cases."""
    try:
        text = text_of(file, root=root)
    except SuiteFileError:
        return task
    names = benchmarks(text, task.entry, is_random=is_random) if task.cases else ()
    if not names:
        return task
    details = {**task.details, "performance": text, "last_call": task.cases[-1]}
    return replace(task, cases=(*task.cases, *names), details=details)


def benchmarks(text: str, entry: str, *, is_random: bool) -> tuple[str, ...]:
    """The cases for timing in a performance file; none if it does not call `entry`, or if `is_random`."""
    try:
        tree = parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    complete = [one for one in classes if set(functions(one)) >= _METHODS]
    calls = call_sites(ast.Module(body=[*complete], type_ignores=[]), entry, is_random=is_random)
    return (FIRST, LAST) if calls.names and not calls.random else ()
