"""Where a candidate is read: small texts here, large ones in a child with a limit of its CPU time."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from engine.model import Candidate, Plan, Policy, Severity
from engine.run.static_reading import Parsed, StaticRead, parse_candidate, read_parsed
from engine.static.source import SourceError, imported_files, is_quickly_parsed
from tests.operators import find

SILU = b"import torch\n\n\ndef silu(self):\n    return self * torch.sigmoid(self)\n"
LARGE = SILU + b"#" * 100_000 + b"\n"
LONG = b"y = 1 + 2\n" * 200_000
"""Statements that take any parser of Python more than a second."""
MARKS = "a" + "\N{COMBINING GRAVE ACCENT BELOW}\N{COMBINING GRAVE ACCENT}" * 400_000
"""An identifier that takes the parser of some Python versions hours."""


def parsed(
    source: bytes,
    *,
    operator: str = "aten::silu",
    policy: Policy = Policy.DEFAULT,
    cpu_s: int = 20,
    folder: Path | None = None,
) -> Parsed:
    problem = find(operator)
    plan = replace(Plan(problem=problem, cases=problem.cases, device="cpu", target=None), policy=policy)
    candidate = Candidate(source=source, problem=problem.name, folder=folder)
    return asyncio.run(parse_candidate(candidate, plan, cpu_s=cpu_s))


def read(
    source: bytes,
    *,
    operator: str = "aten::silu",
    policy: Policy = Policy.DEFAULT,
    cpu_s: int = 20,
    folder: Path | None = None,
) -> StaticRead:
    return asyncio.run(read_parsed(parsed(source, operator=operator, policy=policy, cpu_s=cpu_s, folder=folder)))


@pytest.mark.parametrize(
    ("operator", "found"),
    [
        ("aten::silu", ["no_kernel", "unwritten_output"]),
        ("aten::zeros", ["unwritten_output"]),
        ("aten::empty_strided", []),
    ],
)
def test_pattern_permitted_by_operator_is_no_finding(operator: str, found: list[str]) -> None:
    entry = operator.removeprefix("aten::")
    source = f"import torch\n\n\ndef {entry}(*args):\n    return torch.empty(args[0])\n".encode()
    read_by_policy = {policy: read(source, operator=operator, policy=policy) for policy in Policy}
    assert [one.check for one in read_by_policy[Policy.DEFAULT].findings] == found
    assert [one.finding.check for one in read_by_policy[Policy.STRICT].breaches] == found


@pytest.mark.parametrize(("operator", "found"), [("aten::silu", ["reads_random_state"]), ("aten::bernoulli", [])])
def test_operator_that_draws_may_read_random_state(operator: str, found: list[str]) -> None:
    entry = operator.removeprefix("aten::")
    source = f"import torch\n\n\ndef {entry}(*args):\n    return torch.cuda.default_generators[0].get_state()\n"
    checks = [one.check for one in read(source.encode(), operator=operator).findings]
    assert [check for check in checks if check != "no_kernel"] == found


def test_small_source_is_parsed_in_process() -> None:
    assert parsed(SILU).source is not None


def test_large_text_is_read_in_a_child() -> None:
    assert parsed(LARGE).source is None


def test_child_findings_match_findings_in_process(tmp_path: Path) -> None:
    (tmp_path / "helper.py").touch()
    small, large = b"import helper\n" + SILU, b"import helper\n" + LARGE
    here = read(small, policy=Policy.STRICT, folder=tmp_path)
    apart = read(large, policy=Policy.STRICT, folder=tmp_path)
    assert here.breaches and apart.breaches == here.breaches
    assert here.findings == apart.findings


def test_syntax_error_of_large_text_has_its_place() -> None:
    with pytest.raises(SourceError, match="syntax error: ") as caught:
        parsed(LARGE + b"def f(:\n")
    assert caught.value.location is not None
    assert caught.value.location.line == 7


def test_source_taking_too_long_is_not_checked() -> None:
    found = read(SILU + LONG, cpu_s=1)
    (finding,) = found.findings
    assert (finding.check, finding.severity, found.breaches) == ("reading", Severity.NOTE, ())
    assert finding.message == ("could not check: it took more than 1 s of CPU time; the file has 2,000,069 bytes")


def test_strict_policy_refuses_source_taking_too_long() -> None:
    found = read(SILU + LONG, cpu_s=1, policy=Policy.STRICT)
    assert [breach.finding for breach in found.breaches] == list(found.findings)


@pytest.mark.parametrize(
    ("source", "is_quick"),
    [
        (SILU, True),
        (b"#" * 65_537, False),
        (b"#" * 65_536, True),
        (MARKS[:900].encode(), True),
        (MARKS[:2_000].encode(), False),
        ("# \u00fc\n".encode() * 8_000, True),
    ],
)
def test_quickly_parsed_is_short_or_has_short_lines(source: bytes, is_quick: bool) -> None:
    assert is_quickly_parsed(source) is is_quick


def test_large_text_names_its_imports_without_being_parsed(tmp_path: Path) -> None:
    for name in ("helper.py", "other.py"):
        (tmp_path / name).touch()
    assert imported_files(b"from helper import x\n" + LARGE, tmp_path) == (tmp_path / "helper.py",)
    assert imported_files(f"import helper, {MARKS}\n".encode(), tmp_path) == (tmp_path / "helper.py",)
