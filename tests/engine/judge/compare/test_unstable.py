"""Elements at which a reference jumps under a change of its inputs in the last place."""

from __future__ import annotations

import torch

from engine.errors import ReferenceFaultError
from engine.judge.compare.unstable import moved, settled
from engine.model import Tolerance

TOLERANCE = Tolerance(relative=1e-6, absolute=1e-6)


def rounded(x: torch.Tensor) -> tuple[torch.Tensor]:
    return (torch.round(x),)


def outcome(x: torch.Tensor, got: torch.Tensor) -> list[torch.Tensor] | None:
    return settled([got], rounded(x), [TOLERANCE], arguments=(x,), reference=rounded)


def test_value_at_tie_may_round_either_way() -> None:
    x = torch.tensor([2.4, 6.5, 1.0])
    values = outcome(x, torch.tensor([2.0, 7.0, 1.0]))
    assert values is not None
    assert values[0].tolist() == [2.0, 6.0, 1.0]


def test_value_off_tie_stays_wrong() -> None:
    assert outcome(torch.tensor([2.4, 6.5, 1.0]), torch.tensor([3.0, 7.0, 1.0])) is None


def test_value_beyond_neighbours_of_tie_stays_wrong() -> None:
    assert outcome(torch.tensor([6.5]), torch.tensor([8.0])) is None


def test_wrong_output_takes_four_runs() -> None:
    runs = []

    def doubled(x: torch.Tensor) -> tuple[torch.Tensor]:
        runs.append(x)
        return (2 * x,)

    x = torch.rand(8000)
    assert settled([x], [2 * x], [TOLERANCE], arguments=(x,), reference=doubled) is None
    assert len(runs) == 4


def test_row_behind_threshold_is_one_of_two_answers() -> None:
    x = torch.full((2, 4000), 0.25)
    x[1, 0] = 0.5

    def kept(x: torch.Tensor) -> tuple[torch.Tensor]:
        keeps = x[:, :1] <= 0.5
        return (torch.where(keeps, x, 0.0),)

    got = kept(x)[0].clone()
    got[1] = 0.0
    values = settled([got], kept(x), [TOLERANCE], arguments=(x,), reference=kept)
    assert values is not None
    assert torch.equal(values[0], kept(x)[0])


def test_arguments_move_by_two_units_at_most() -> None:
    generator = torch.Generator().manual_seed(1)
    x, index = torch.ones(1000), torch.arange(3)
    (other, same), options = moved(((x, index), {"scale": 2.0, "bias": x}), (-2.0, 2.0), generator)
    assert same is index
    assert options["scale"] == 2.0
    assert 0 < (other - x).abs().max().item() <= 2 * torch.finfo(torch.float32).eps
    assert not torch.equal(options["bias"], x)


def test_one_step_scale_error_in_16_bits_fails() -> None:
    x = torch.full((3,), 1.0, dtype=torch.bfloat16)
    got = torch.full((3,), 1.0078125, dtype=torch.bfloat16)
    tolerance = Tolerance(relative=1e-3, absolute=1e-3)
    assert settled([got], (x,), [tolerance], arguments=(x,), reference=lambda x: (x,)) is None


def test_reference_that_fails_on_moved_inputs_explains_nothing() -> None:
    def fails(x: torch.Tensor) -> tuple[torch.Tensor]:
        raise ReferenceFaultError("a probability above 1")

    x = torch.ones(3)
    assert settled([x + 1], (x,), [TOLERANCE], arguments=(x,), reference=fails) is None
