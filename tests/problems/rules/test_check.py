"""Each rule finds a problem that breaks it, made of one that keeps them all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from engine.model import Cost, Determinism, ProblemDefinition, Tier, Tolerance
from problems.rules.check import RULES, complaints
from tests.operators import definition, described

SILU = definition("aten::silu")
DESCRIBED = described("aten::silu")
Made = dict[str, Any]  # Any: fields of a problem of every type


def _changes_its_argument(x: torch.Tensor) -> torch.Tensor:
    wanted = SILU.reference(x)
    x.zero_()
    assert isinstance(wanted, torch.Tensor)
    return wanted


def _without_seed(case: Any, rng: torch.Generator) -> Any:  # Any: arguments of every kind
    return tuple(torch.rand_like(value) if isinstance(value, torch.Tensor) else value for value in _made(case, rng))


def _of_one_seed(case: Any, rng: torch.Generator) -> Any:  # Any: as above
    return _made(case, rng.manual_seed(5))


def _made(case: Any, rng: torch.Generator) -> Any:  # Any: as above
    return SILU.make_inputs(case, rng)


def _contiguous(case: Any, rng: torch.Generator) -> Any:  # Any: as above
    return tuple(value.contiguous() for value in _made(case, rng))


def _finite(case: Any, rng: torch.Generator) -> Any:  # Any: as above
    return tuple(value.nan_to_num(0.0, 1.0, -1.0) if value.is_contiguous() else value for value in _made(case, rng))


BREACHES: tuple[tuple[str, Made, str], ...] = (
    ("description", {"summary": "another"}, "summary is 'x*sigmoid"),
    ("signature", {"signature": "silu(self: Tensor)"}, "the signature has no return annotation"),
    ("signature", {"entry": "swish"}, "entry 'swish'"),
    ("tiers", {"cases": tuple(one for one in SILU.cases if one.tier is not Tier.BENCH)}, "0 bench cases"),
    ("seeds", {"make_inputs": _without_seed}, "the same seed gives different inputs"),
    ("seeds", {"make_inputs": _of_one_seed}, "another seed gives the same inputs"),
    ("layouts", {"make_inputs": _contiguous}, "its layout does not match"),
    ("strides", {"make_inputs": _contiguous}, "no case has self with a storage offset"),
    ("determinism", {"determinism": Determinism.EXACT}, "determinism is exact, and some case has a tolerance"),
    ("repeatable_reference", {"reference": _changes_its_argument}, "the reference changes its arguments"),
    ("honest_eager", {"eager": torch.relu}, "eager is wrong"),
    ("honest_eager", {"eager": _changes_its_argument}, "eager changes self"),
    ("margin", {"tolerance": lambda case: Tolerance(relative=1e-9, absolute=1e-9)}, "eager takes 1 / "),
    ("least_scale", {"tolerance": lambda case: Tolerance(relative=0, absolute=0, least_scale=9.0)}, "scale is 9, but"),
    ("cost", {"cost": lambda case: Cost(flops=1, bytes_read=1 << 40, bytes_written=1)}, "cost reads 1099511627776"),
    ("card_memory", {"cost": lambda case: Cost(flops=1, bytes_read=4 << 30, bytes_written=1)}, "bytes; a case has at"),
    ("cost", {"cost": lambda case: Cost(flops=1, bytes_read=0, bytes_written=1)}, "give 1 or more"),
    ("rejected_lies", {"tolerance": lambda case: Tolerance(relative=2.0, absolute=9.0)}, "rejects the lie zeros"),
    ("rejected_mistakes", {"make_inputs": _finite}, "no case has inputs for the mistake nan_dropped"),
    ("reasons", {"cannot_reject": {"perjury": "none"}}, "cannot_reject names 'perjury', which is unknown"),
    ("reasons", {"cannot_reject": {"zeros": ""}}, "cannot_reject has no reason for zeros"),
)  # fmt: skip


def found(problem: ProblemDefinition) -> list[tuple[str, str]]:
    return [(one.rule, one.text) for one in complaints(problem, DESCRIBED)]


@pytest.mark.parametrize(("rule", "changes", "text"), BREACHES, ids=lambda one: one if isinstance(one, str) else "")
def test_broken_problem_breaks_the_rule(rule: str, changes: Made, text: str) -> None:
    assert [one for one in found(replace(SILU, **changes)) if one[0] == rule and text in one[1]] != []


def test_stated_reason_excuses_trivial_answer() -> None:
    loose: Made = {"tolerance": lambda case: Tolerance(relative=2.0, absolute=9.0)}
    excused = replace(SILU, **loose, cannot_reject={"zeros": "anything is right"})
    assert "no SMOKE case rejects the lie zeros" in [text for _, text in found(replace(SILU, **loose))]
    assert "no SMOKE case rejects the lie zeros" not in [text for _, text in found(excused)]


def test_exception_of_problem_is_rule_violation() -> None:
    def broken(x: torch.Tensor) -> torch.Tensor:
        raise LookupError("no such thing")

    assert ("honest_eager", "raised LookupError: no such thing") in found(replace(SILU, eager=broken))


def test_random_operator_may_differ_between_calls() -> None:
    drawn: Callable[[torch.Tensor], torch.Tensor] = torch.rand_like
    changed = replace(SILU, reference=drawn, determinism=Determinism.RANDOM)
    assert "repeatable_reference" not in [rule for rule, _ in found(changed)]


def test_rules_have_names_of_their_own() -> None:
    assert len({rule.__name__ for rule in RULES}) == len(RULES)
