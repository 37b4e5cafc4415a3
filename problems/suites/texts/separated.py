"""Files that contain a reference and its tests, separated by a line of 146 `#`: KernelBench-X and TritonBench.

Above the first such line is the reference (in TritonBench G a Triton kernel with its wrapper), below the last one
are the tests, which run on import and bind a module-level name to a call of `test_*()`.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from problems.suites.files import SuiteFileError
from problems.suites.texts.call_sites import CallSites, call_sites
from problems.suites.texts.syntax import (
    Function,
    draws_random,
    functions,
    lines_of,
    may_write_arguments,
    parameters,
    parsed,
    used_names,
)

SEPARATOR = "#" * 146
_ONLY_PYTORCH = "their answer depends on PyTorch's random stream"
_UNMOVABLE = frozenset({"model", "module", "loss_fn", "optimizer", "closure"})


@dataclass(frozen=True, kw_only=True)
class SeparatedFile:
    """The two parts of such a file, and the function that a candidate must define.

    `tests` begins with as many empty lines as are above it, so that its lines have the numbers of the file.  `others`
    are further functions of the reference that the tests use, `calls` the call sites of the entry.  `writes` is whether
    a call may write to its arguments, `is_random` whether the reference draws random numbers.
    """

    reference: str
    tests: str
    entry: str
    function: Function
    others: tuple[str, ...]
    calls: CallSites
    writes: bool
    is_random: bool
    health: tuple[str, ...]

    @property
    def refusal(self) -> str:
        """The reason why the tests cannot verify a candidate; "" if they can."""
        unmovable = [name for name in parameters(self.function) if name in _UNMOVABLE]
        if unmovable:
            return f"its function takes {', '.join(unmovable)}, which cannot be moved to a candidate's process"
        if self.calls.random and not self.calls.names:
            return f"its reference draws random numbers in every call: {_ONLY_PYTORCH}"
        return "" if self.calls.names else "its tests make no call with usable inputs"

    def details(self, stem: str) -> dict[str, str]:
        """Details for the harness of recorded calls."""
        writes = {"writes": "arguments"} if self.writes else {}
        return {"tests": self.tests, "entry": self.entry, "stem": stem, **writes}


def is_separated(text: str) -> bool:
    """Whether a text has a line of exactly 146 `#`."""
    return any(line.strip() == SEPARATOR for line in lines_of(text))


def separated(text: str, *, stem: str, shown: str) -> SeparatedFile:
    """The parts of a text; `stem` is its file name without suffix, `shown` its name in errors.

    Raises:
        SuiteFileError: it has no separator, a part does not parse, or no function of the reference is tested.
    """
    lines = lines_of(text)
    places = [number for number, line in enumerate(lines) if line.strip() == SEPARATOR]
    if not places:
        raise SuiteFileError(f"{shown}: no line of 146 '#' between reference and tests, so it is not a task; left out")
    reference, tests = "".join(lines[: places[0]]), "\n" * (places[-1] + 1) + "".join(lines[places[-1] + 1 :])
    upper, lower = parsed(reference, shown), parsed(tests, shown)
    entry, others = _tested(upper, lower, stem=stem, shown=shown)
    is_random = draws_random(upper)
    calls = call_sites(lower, entry, is_random=is_random)
    return SeparatedFile(
        reference=reference,
        tests=tests,
        entry=entry,
        function=functions(upper)[entry],
        others=others,
        calls=calls,
        writes=calls.writes or may_write_arguments(upper),
        is_random=is_random,
        health=tuple(_health(lower, others, calls)),
    )


def _tested(upper: ast.Module, lower: ast.Module, *, stem: str, shown: str) -> tuple[str, tuple[str, ...]]:
    """The function of the reference that the tests call, and the others that they use."""
    defined, redefined = functions(upper), set(functions(lower))
    used = [name for name in dict.fromkeys(used_names(lower)) if name in defined and name not in redefined]
    if not used:
        raise SuiteFileError(f"{shown}: its tests use no function of the reference, so it is not a task; left out")
    entry = stem if stem in used else used[0]
    return entry, tuple(name for name in used if name != entry)


def _result(lower: ast.Module) -> str:
    """The last name that the tests bind, at module level, to a call of a function `test*`."""
    for statement in reversed(lower.body):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id=called))):
                if called.startswith("test"):
                    return name
    return ""


def _health(lower: ast.Module, others: tuple[str, ...], calls: CallSites) -> list[str]:
    found = []
    if _keeps_exceptions(lower):
        found.append("the tests compare the messages of exceptions")
    if not _result(lower):
        found.append("the tests bind no result at their top level")
    if others:
        found.append(f"the tests also use {', '.join(others)}, which a candidate need not define here")
    if calls.random:
        found.append(f"calls that draw random numbers are left out: {_lines(calls.random)}; {_ONLY_PYTORCH}")
    if calls.caught:
        found.append(f"calls that may raise are left out: {_lines(calls.caught)}")
    return found


def _lines(numbers: tuple[int, ...]) -> str:
    return ("lines " if len(numbers) > 1 else "line ") + ", ".join(map(str, numbers))


def _keeps_exceptions(lower: ast.Module) -> bool:
    """Whether a handler stores a part of the exception that it caught."""
    return any(
        isinstance(part, ast.Name) and part.id == handler.name
        for handler in ast.walk(lower)
        if isinstance(handler, ast.ExceptHandler) and handler.name
        for statement in handler.body
        if isinstance(statement, ast.Assign)
        for part in ast.walk(statement.value)
    )
