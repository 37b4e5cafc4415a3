"""Bytes written beside the arguments."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

import pytest

from engine.judge.inputs import cases
from engine.model import Outcome
from engine.protocol import tensors

if TYPE_CHECKING:
    from tests.engine.judge.conftest import Bench

from tests.engine.judge.replies import outcomes


@pytest.mark.parametrize(
    ("zone", "at_its_end", "where"),
    [
        (0, False, "before the beginning of argument x"),
        (0, True, "before the beginning of argument x"),
        (1, False, "past the end of argument x"),
        (1, True, "before the beginning of argument out"),
        (2, False, "past the end of argument out"),
        (2, True, "past the end of argument out"),
    ],
)
def test_byte_written_beside_arguments_names_the_nearest(bench: Bench, zone: int, at_its_end: bool, where: str) -> None:
    bench.prepare("INTO", poison=0x7B)
    bench.arguments[1].copy_(bench.arguments[0] + 1)
    there = tensors.guard_zones(bench.spec)[zone]
    bench.write_byte(there.offset + (there.bytes - 1 if at_its_end else 0), 0x7A)
    compared = bench.compared()
    message = f"memory {where} was written (1 byte): a store without a mask, or with a wrong one"
    assert (outcomes(compared), compared.mutated) == ([("out", Outcome.PASS)], message)


def test_guard_is_compared_with_poison_of_last_refill(bench: Bench) -> None:
    bench.prepare("INTO", poison=0x7B)
    bench.refill(fresh=False, poison=0xFF)
    bench.arguments[1].copy_(bench.arguments[0] + 1)
    assert bench.compared().mutated is None
    bench.write_byte(0, 0x7B)
    assert bench.compared().mutated is not None


def test_refill_restores_bytes_beside_the_arguments(bench: Bench) -> None:
    bench.prepare("TWICE")
    bench.write_byte(0, 0)
    bench.refill(fresh=True)
    assert bench.compared(*bench.hand_back(2 * bench.arguments[0])).mutated is None


@pytest.mark.parametrize(
    ("zone", "nearer_to_end", "where"),
    [
        (0, False, "before the beginning of argument x"),
        (1, False, "past the end of argument x"),
        (1, True, "before the beginning of argument out"),
        (2, False, "past the end of argument out"),
        (2, True, "before the beginning of the output buffer"),
        (3, True, "past the end of the output buffer"),
    ],
)
def test_overrun_on_device_with_output_places_is_named(
    bench: Bench, zone: int, nearer_to_end: bool, where: str
) -> None:
    problem = importlib.import_module("toy_problems").INTO
    specs = bench.prepare("INTO").arguments
    damage = tensors.Damage(zone=zone, zones=4, changed_bytes=3, nearer_to_end=nearer_to_end)
    expected = f"memory {where} was written (3 bytes): a store without a mask, or with a wrong one"
    assert cases.overrun(problem, specs, damage) == expected


def test_an_overrun_past_a_list_names_the_list(bench: Bench) -> None:
    prepared = bench.prepare("ALIASES")
    problem = importlib.import_module("toy_problems").ALIASES
    damage = tensors.Damage(zone=1, zones=2, changed_bytes=3, nearer_to_end=False)
    assert cases.overrun(problem, prepared.arguments, damage).startswith("memory past the end of argument xs was")
