"""One table of what each policy does: whole, and printed from what decides."""

from __future__ import annotations

from engine.model import Policy, Severity
from engine.model.layers import Layer
from engine.verdict.policy import WEIGHTS, Effect, policy_table


def test_every_policy_covers_every_severity() -> None:
    assert set(WEIGHTS) == set(Policy)
    assert [policy for policy in Policy if set(WEIGHTS[policy].by_severity) != set(Severity)] == []


def test_suspects_and_proofs_flag_except_facts_only() -> None:
    flagging = {policy: [one for one in Severity if WEIGHTS[policy].flags(one)] for policy in Policy}
    assert flagging == {
        Policy.DEFAULT: [Severity.SUSPECT, Severity.PROOF],
        Policy.STRICT: [Severity.SUSPECT, Severity.PROOF],
        Policy.FACTS_ONLY: [],
    }


def test_only_the_strict_policy_refuses() -> None:
    assert [policy for policy in Policy if WEIGHTS[policy].refuses] == [Policy.STRICT]


def test_every_policy_states_effect_of_every_layer() -> None:
    assert [policy for policy in Policy if set(WEIGHTS[policy].unchecked) != set(Layer)] == []


def test_policy_states_its_required_layers() -> None:
    required = {policy: {layer for layer in Layer if WEIGHTS[policy].requires(layer)} for policy in Policy}
    assert required == {
        Policy.DEFAULT: {Layer.BEHAVIOUR, Layer.ABLATION, Layer.INPUTS, Layer.DEVICE_RECORD},
        Policy.STRICT: set(Layer),
        Policy.FACTS_ONLY: set(),
    }


def test_table_prints_deciding_severities() -> None:
    header, _, *rows = (line.strip("| ").split(" | ") for line in policy_table().splitlines())
    assert header == ["what was found", "`default`", "`strict`", "`facts-only`"]
    reported = {cells[0].partition(":")[0].strip("`"): cells[1:] for cells in rows}
    for severity in Severity:
        assert reported[severity] == [WEIGHTS[policy].by_severity[severity] for policy in Policy]
    for layer in Layer:
        unchecked = [WEIGHTS[policy].unchecked[layer] for policy in Policy]
        assert reported[f"layer `{layer}` could not be checked"] == unchecked
    assert reported["a broken rule of strict benchmarks"] == [Effect.NOT_CHECKED, Effect.REFUSES, Effect.NOT_CHECKED]
