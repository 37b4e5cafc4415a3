"""The strict rules have a sentence for what they refuse, and see all of PyTorch that computes."""

from __future__ import annotations

from pathlib import Path

import pytest

import kgtui
from engine.model.parsing import parse
from engine.static.analysis import Reading
from engine.static.checks import MOST_NODES, checks, read_statically
from engine.static.source import directives
from engine.static.strict import WHITELIST, breaches, outside_whitelist, rules
from engine.verdict.decide import Breach
from tests.candidates import cheat as find_cheat
from tests.operators import find

CORPUS = Path(__file__).parents[2] / "corpus"
SAMPLE = Path(kgtui.__file__).parent / "samples" / "softmax.py"
TORCH = "import torch\ndef f(x: torch.Tensor):\n    "


def test_every_rule_belongs_to_check_or_whitelist() -> None:
    assert set(rules()) <= {check.name for check in checks()} | {WHITELIST}
    assert [sentence for sentence in rules().values() if not sentence.endswith(".")] == []


def test_check_without_published_rule_refuses_nothing() -> None:
    assert "prints_verdict" not in rules()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("n = x.max().item()\n    return launch(x, n)", ".max() of a tensor computes"),
        ("return launch(torch.cumsum(x, 0))", "torch.cumsum computes"),
        ("return launch(x + 1)", "arithmetic on tensors computes"),
    ],
)
def test_computing_bookkeeping_is_outside_whitelist(text: str, said: str) -> None:
    assert said in [finding.message for finding in outside_whitelist(Reading.of(TORCH + text))]


@pytest.mark.parametrize(
    "text", ["return torch.empty_like(x).view(-1)", "return launch(x.to(torch.half), x.numel() * 2)"]
)
def test_allocations_views_and_casts_are_on_whitelist(text: str) -> None:
    assert list(outside_whitelist(Reading.of(TORCH + text))) == []


def test_tensor_in_signature_is_tensor_in_source() -> None:
    text = "def f(a, n, b):\n    return launch(a * 2, n * 2, b - 1)\n"
    tree = parse(text)
    assert breaches(tree, text, "f", ()) == ()
    reported = breaches(tree, text, "f", (), signature="f(x: Tensor, n: int, y: Tensor | None = None) -> Tensor")
    assert [breach.finding.message for breach in reported] == ["arithmetic on tensors computes"] * 2
    columns = [breach.finding.location.column for breach in reported if breach.finding.location]
    assert columns == [19, 33]


def test_parameters_of_other_functions_ignore_the_signature() -> None:
    text = "def size(a):\n    return a * 2\ndef f(x):\n    return launch(x, size(3))\n"
    assert breaches(parse(text), text, "f", (), signature="f(x: Tensor) -> Tensor") == ()


@pytest.mark.parametrize("path", sorted((CORPUS / "honest").glob("*.py")), ids=lambda path: path.stem)
def test_signature_refuses_no_honest_scalar_arithmetic(path: Path) -> None:
    text = path.read_text()
    problem = find(directives(text)["op"])
    tree = parse(text)
    without = {breach.finding.location for breach in breaches(tree, text, problem.entry, ())}
    reported = breaches(tree, text, problem.entry, (), signature=problem.signature)
    assert [breach for breach in reported if breach.finding.location not in without] == []


def broken_by(text: str, entry: str) -> tuple[Breach, ...]:
    tree = parse(text)
    return breaches(tree, text, entry, tuple(read_statically(tree, text, entry)))


@pytest.mark.parametrize(
    ("cheat", "entry", "check"),
    [
        ("plain_torch_and_a_decoy", "silu", "torch_compute"),
        ("fig_leaf", "mm", "torch_compute"),
        ("constant_output", "softmax", "no_kernel"),
        ("patches_the_clock", "silu", "patched_globals"),
    ],
)
def test_cheat_breaks_named_rule_with_its_line(cheat: str, entry: str, check: str) -> None:
    text = find_cheat(cheat).read_text()
    found = [breach for breach in broken_by(text, entry) if breach.finding.check == check]
    assert found
    assert found[0].rule == rules()[check]
    assert found[0].finding.location is not None


def test_violations_follow_line_order_once_each() -> None:
    text = TORCH + "n = x.max().item()\n    return torch.softmax(launch(x, n), 0)\n"
    reported = [(one.finding.check, one.finding.location) for one in broken_by(text, "f")]
    lines = [location.line for _, location in reported if location]
    assert lines == sorted(lines)
    computed = [location.line for check, location in reported if check in (WHITELIST, "torch_compute") and location]
    assert computed == [3, 4]


def test_the_sample_breaks_no_rule() -> None:
    assert broken_by(SAMPLE.read_text(), "softmax") == ()


def test_file_unreadable_for_rules_breaks_one() -> None:
    text = f"x = [{'0, ' * MOST_NODES}]\ndef f(x): ...\n"
    (breach,) = broken_by(text, "f")
    assert breach.rule == "The rules can be checked from the source."
    assert breach.finding.message.startswith("could not check: the file has")
