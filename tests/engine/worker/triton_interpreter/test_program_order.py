"""The programs of a grid run each once, in another order while that is asked for, and as usual afterwards."""

from __future__ import annotations

import contextlib
from typing import Any

import torch

from engine import protocol
from engine.worker.triton_interpreter.program_order import ProgramOrder

CPU = torch.device("cpu")
BACKWARDS = protocol.ProgramOrder()


class Builder:
    """Stands for the interpreter's builder: it notes which program is said to be next."""

    def __init__(self) -> None:
        self.grid_dim = (1, 1, 1)
        self.places: list[tuple[int, int, int]] = []

    def set_grid_idx(self, x: int, y: int, z: int) -> None:
        self.places.append((x, y, z))


def run(
    program_order: ProgramOrder, asked: protocol.ProgramOrder | None, *sizes: tuple[int, int, int]
) -> list[tuple[int, int, int]]:
    """Launch grids of these sizes as the interpreter does; the programs in the order in which they ran."""
    builder = Builder()
    set_place = program_order.moving(Builder.set_grid_idx)
    with program_order.during(asked):
        for builder.grid_dim in sizes:
            for place in places(builder.grid_dim):
                set_place(builder, *place)
    return builder.places


def places(sizes: tuple[int, int, int]) -> list[tuple[int, int, int]]:
    return [(x, y, z) for x in range(sizes[0]) for y in range(sizes[1]) for z in range(sizes[2])]


def test_without_program_order_programs_run_in_their_order() -> None:
    program_order = ProgramOrder(CPU)
    assert run(program_order, None, (2, 3, 2)) == places((2, 3, 2))
    assert program_order.launches == 0


def test_backwards_the_last_program_is_the_first() -> None:
    program_order = ProgramOrder(CPU)
    assert run(program_order, BACKWARDS, (2, 3, 2)) == places((2, 3, 2))[::-1]
    assert program_order.launches == 1


def test_a_seed_shuffles_every_program_once() -> None:
    shuffled = run(ProgramOrder(CPU), protocol.ProgramOrder(seed=5), (4, 5, 3))
    assert sorted(shuffled) == places((4, 5, 3))
    assert shuffled not in (places((4, 5, 3)), places((4, 5, 3))[::-1])
    assert shuffled == run(ProgramOrder(CPU), protocol.ProgramOrder(seed=5), (4, 5, 3))
    assert shuffled != run(ProgramOrder(CPU), protocol.ProgramOrder(seed=6), (4, 5, 3))


def test_launches_have_own_order_unless_single_program() -> None:
    program_order = ProgramOrder(CPU)
    assert run(program_order, BACKWARDS, (2, 1, 1), (1, 1, 1), (3, 1, 1)) == [
        (1, 0, 0),
        (0, 0, 0),
        (0, 0, 0),
        (2, 0, 0),
        (1, 0, 0),
        (0, 0, 0),
    ]
    assert program_order.launches == 2


def test_count_is_that_of_last_call() -> None:
    program_order = ProgramOrder(CPU)
    run(program_order, BACKWARDS, (2, 1, 1))
    run(program_order, None, (2, 1, 1))
    assert program_order.launches == 0


def test_a_call_that_fails_leaves_no_program_order() -> None:
    program_order, builder = ProgramOrder(CPU), Builder()
    builder.grid_dim = (2, 1, 1)
    with contextlib.suppress(ArithmeticError), program_order.during(BACKWARDS):
        raise ArithmeticError
    for place in places(builder.grid_dim):
        program_order.moving(Builder.set_grid_idx)(builder, *place)
    assert builder.places == places(builder.grid_dim)


def test_the_interpreter_runs_its_programs_in_that_order(interpreted: dict[str, dict[str, Any]]) -> None:
    assert interpreted["programs_run_backwards"] == {"value": {"usual": [0, 1, 2, 3], "backwards": [3, 2, 1, 0]}}
