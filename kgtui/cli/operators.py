"""Operators as text: a list, a page, a Markdown table, a JSON document.  Imports no torch."""

from __future__ import annotations

import importlib
import shutil
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from engine.model import Case, Problem

JSON_SCHEMA = "kgtui.problems/1"

Plain: TypeAlias = dict[str, Any]  # Any: JSON values of every shape


def markdown_table(catalogue: Mapping[str, Problem]) -> str:
    """The table of operators in the manual."""
    rows = [f"| `{name}` | {problem.category} | {problem.summary} |" for name, problem in catalogue.items()]
    return "\n".join(["| operator | category | what it computes |", "|---|---|---|", *rows]) + "\n"


def document_text(shown: Sequence[Problem]) -> str:
    """Operators as one JSON document."""
    encoded = msgspec.json.encode({"schema": JSON_SCHEMA, "problems": [_document(problem) for problem in shown]})
    return msgspec.json.format(encoded, indent=2).decode()


def list_text(shown: Sequence[Problem]) -> str:
    """A line for each: name, category, number of cases, what it computes, as far as the terminal is wide."""
    wide = shutil.get_terminal_size((120, 24)).columns
    names = max(len(problem.name) for problem in shown)
    kinds = max(len(problem.category) for problem in shown)
    return "\n".join(
        f"{problem.name:<{names}}  {problem.category:<{kinds}}  {len(problem.cases):>3} cases  {problem.summary}"[:wide]
        for problem in shown
    )


def page_text(problem: Problem) -> str:
    """One operator in full: signature, contract, and every case with its tolerance and least work."""
    lines = [
        f"{problem.name}: {problem.summary}",
        "",
        f"  signature  {problem.signature}",
        f"  compared   {', '.join(problem.outputs)}",
        f"  category   {problem.category}",
        f"  defined    {problem.origin.partition(':')[0]}",
        f"  formula    {_formula(problem)}",
        *_contract(problem),
        "",
        "  tier   case                                    tolerance, relative + absolute       least work",
    ]
    lines += [
        f"  {case.tier:<6} {case.name:<39} {_tolerance(problem, case):<36} {_work(problem, case)}"
        for case in problem.cases
    ]
    return "\n".join(lines)


def _formula(problem: Problem) -> str:
    """The first line of the problem's own module."""
    module = importlib.import_module(problem.origin.partition(":")[0])
    return (module.__doc__ or "").strip().partition("\n")[0]


def _contract(problem: Problem) -> list[str]:
    """The rest of the docstring of the problem's own module: layouts, special values, what is outside."""
    module = importlib.import_module(problem.origin.partition(":")[0])
    lines = (module.__doc__ or "").strip().splitlines()[2:]
    return [f"  {'contract' if number == 0 else '':<10} {line}".rstrip() for number, line in enumerate(lines)]


def _tolerance(problem: Problem, case: Case) -> str:
    tolerance = problem.tolerance(case)
    if tolerance.relative == tolerance.absolute == 0:
        return "equal to the bit"
    return f"{tolerance.relative:.2g} of expected + {tolerance.absolute:.2g} of rms"


def _work(problem: Problem, case: Case) -> str:
    cost = problem.cost(case)
    return f"{cost.flops:,} flops, {cost.bytes_read + cost.bytes_written:,} bytes"


def _document(problem: Problem) -> Plain:
    return {
        "name": problem.name,
        "entry": problem.entry,
        "signature": problem.signature,
        "summary": problem.summary,
        "category": problem.category,
        "outputs": problem.outputs,
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
