"""Operators as text: a list, a page, a Markdown table, a JSON document.  Imports no torch."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any, TypeAlias

import msgspec

from engine.model import Case, Determinism, DType, Problem
from engine.model.counts import counted
from engine.problem_source import ProblemDescription
from problems.function_docs import docstring_of

JSON_SCHEMA = "kgtui.problems/1"

_ANSWERS = {
    Determinism.EXACT: "one, to the bit",
    Determinism.ROUNDING: "one, up to rounding",
    Determinism.ORDER_FREE: "several: the order is not specified",
    Determinism.RANDOM: "random; tested by distribution",
    Determinism.UNSPECIFIED: "any content; shape and dtype are compared",
}

_GROUPS = {
    "float": {DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16},
    "complex": {DType.COMPLEX64, DType.COMPLEX128},
    "int": {DType.INT64, DType.INT32, DType.INT16, DType.INT8, DType.UINT8},
}
_UNCUT = 10_000  # width of output that is not a terminal
_LEAST_SUMMARY = 14
_LIBRARIES = ("cublas", "vllm")
_PRODUCT = ("cublas", "aten::mm")
_OF_SUITES = "eager"  # the reference, timed in its own process

Plain: TypeAlias = dict[str, Any]  # Any: JSON values of every shape


def markdown_table(described: Sequence[ProblemDescription]) -> str:
    """The table of operators in the manual."""
    rows = [f"| `{problem.name}` | {problem.category} | {_escaped(problem.summary)} |" for problem in described]
    return "\n".join(["| operator | category | what it computes |", "|---|---|---|", *rows]) + "\n"


def _escaped(text: str) -> str:
    """The text for a cell of a Markdown table."""
    return text.replace("|", r"\|")


def document_text(shown: Sequence[Problem]) -> str:
    """Operators as one JSON document."""
    encoded = msgspec.json.encode({"schema": JSON_SCHEMA, "problems": [_document(problem) for problem in shown]})
    return msgspec.json.format(encoded, indent=2).decode()


def list_text(described: Sequence[ProblemDescription], *, cut: str) -> str:
    """A line for each operator: name, category, summary, dtypes.

    On a terminal, a summary or a line that is too long for it ends in the sign `cut`; a narrow one has no dtypes.
    Operators with a weakness found by an audit are marked.
    """
    wide = _terminal_width()
    rows = [
        (f"{one.name} !" if one.weakness else one.name, str(one.category), one.summary, _dtypes(one))
        for one in described
    ]
    names, kinds, summaries, dtypes = (max(map(len, column)) for column in zip(*rows, strict=True))
    room = wide - names - kinds - dtypes - 6
    if room < _LEAST_SUMMARY:
        rows = [(name, kind, words, "") for name, kind, words, _ in rows]
        room += dtypes + 2
    summaries = min(summaries, max(_LEAST_SUMMARY, room))
    return "\n".join(
        _cut(
            f"{name:<{names}}  {kind:<{kinds}}  {_cut(words, summaries, cut):<{summaries}}  {held}".rstrip(), wide, cut
        )
        for name, kind, words, held in rows
    )


def _cut(text: str, wide: int, cut: str) -> str:
    return text if len(text) <= wide else text[: wide - 1] + cut


def _terminal_width() -> int:
    """COLUMNS, or the width of the terminal; as in `shutil`, whose import takes a tenth of the time of a list."""
    asked = os.environ.get("COLUMNS", "")
    if asked.isdecimal() and int(asked):
        return int(asked)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or _UNCUT  # type: ignore[union-attr]  # caught
    except (AttributeError, ValueError, OSError):  # no stream, a closed one, no terminal
        return _UNCUT


def _dtypes(problem: ProblemDescription) -> str:
    """The dtypes of the cases, a complete group by its name: "float f64 int bool"."""
    words: dict[str, None] = {}
    for dtype in problem.dtypes:
        groups = (name for name, group in _GROUPS.items() if dtype in group and group <= set(problem.dtypes))
        words[next(groups, dtype.short)] = None
    return " ".join(words)


def page_text(problem: Problem, described: ProblemDescription, *, baselines: Sequence[str]) -> str:
    """One operator in full: signature, contract, baselines, and every case with its tolerance and least work."""
    lines = [
        f"{problem.name}: {problem.summary}",
        "",
        f"  signature  {problem.shown_signature}",
        f"  compared   {', '.join(problem.outputs)}",
        f"  category   {problem.shown_category}{_level(problem)}",
        f"  defined    {described.file}",
        f"  formula    {described.formula}",
        *_contract(described),
        *([f"  audit      verdicts unreliable: {problem.weakness}"] if problem.weakness else []),
        f"  answers    {_ANSWERS[problem.determinism]}",
        *([f"  PyTorch    may do all of it: {', '.join(problem.framework)}"] if problem.framework else []),
        *_functions(described),
        *([f"  oracle     {described.second_oracle}"] if described.second_oracle else []),
        f"  baselines  {', '.join(name for name in baselines if _is_timed(problem, name)) or 'none'}",
        f"  special    {_special_cases(problem)}",
        "",
        "  tier   case                                    tolerance, relative + absolute       least work",
    ]
    lines += [
        f"  {case.tier:<6} {case.name:<39} {_tolerance(problem, described, case):<36} {_work(problem, case)}"
        for case in problem.cases
    ]
    return "\n".join(lines)


def _level(problem: Problem) -> str:
    """The level that a suite gives a task, if it differs from the category."""
    level = problem.suite.level if problem.suite is not None else ""
    return f", {level}" if level and level != problem.shown_category else ""


def _is_timed(problem: Problem, baseline: str) -> bool:
    """Whether a baseline can be timed beside this operator; a library routine only for operators that it has."""
    if problem.suite is not None:
        return baseline == _OF_SUITES
    return baseline not in _LIBRARIES or problem.library == baseline or (baseline, problem.name) == _PRODUCT


def _special_cases(problem: Problem) -> str:
    """Number of cases with NaN, infinities, -0.0 or extreme values, and one of them."""
    words = ("special", "nan", "inf")
    values = ((case.name, str(case.params.get("values", ""))) for case in problem.cases)
    found = [name for name, value in values if any(word in value for word in words)]
    return f"values in {counted(len(found), 'case')}, such as {found[0]}" if found else "no special values"


def _functions(described: ProblemDescription) -> list[str]:
    """Docstrings of the reference, the baseline, and the tolerance or comparison."""
    lines = []
    for role in ("reference", "eager", "compare" if "compare" in described.functions else "tolerance"):
        name = described.functions.get(role)
        text = docstring_of(described.file, name) if name else ""
        if text:
            first, *rest = text.splitlines()
            lines += [f"  {role:<10} {first}", *(f"  {'':<10} {line}".rstrip() for line in rest if line)]
    return lines


def _contract(described: ProblemDescription) -> list[str]:
    """The rest of the docstring of the problem's file: layouts, special values, limits."""
    lines = described.contract.splitlines()
    return [f"  {'contract' if number == 0 else '':<10} {line}".rstrip() for number, line in enumerate(lines)]


def _tolerance(problem: Problem, described: ProblemDescription, case: Case) -> str:
    if problem.suite is not None:
        return "calibrated when the reference runs"
    if "compare" in described.functions:
        return "compared by the operator's own rule"
    tolerance = problem.tolerance(case)
    if tolerance.relative == tolerance.absolute == 0:
        return "equal to the bit" if tolerance.signed_zeros else "equal, zeros of either sign"
    least = f" (>= {tolerance.least_scale:.2g})" if tolerance.least_scale else ""
    return f"{tolerance.relative:.2g} of expected + {tolerance.absolute:.2g} of rms{least}"


def _work(problem: Problem, case: Case) -> str:
    if problem.suite is not None:
        return "measured when the reference runs"
    cost = problem.cost(case)
    return f"{cost.flops:,} flops, {cost.bytes_read + cost.bytes_written:,} bytes"


def _document(problem: Problem) -> Plain:
    return {
        "name": problem.name,
        "entry": problem.entry,
        "signature": problem.shown_signature,
        "summary": problem.summary,
        "category": problem.shown_category,
        "outputs": problem.outputs,
        "determinism": problem.determinism,
        "weakness": problem.weakness or None,
        "framework": problem.framework,
        "cases": [
            {
                "name": case.name,
                "tier": case.tier,
                "dtype": case.dtype,
                "params": dict(case.params),
                "tolerance": msgspec.to_builtins(problem.tolerance(case)),
                "cost": msgspec.to_builtins(problem.cost(case)),
            }
            for case in problem.cases
        ],
    }
