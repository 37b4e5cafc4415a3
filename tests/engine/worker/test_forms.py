"""How entries are called: functions as they are, module classes made and given the reference's weights."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from engine.clock.binding import bound
from engine.model import CandidateForm
from engine.worker.forms import entry_of

SEED = torch.tensor(7)


class Affine(torch.nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(size))
        self.drawn = self.weight.detach().clone()
        self.dropout = torch.nn.Dropout(0.5)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return self.dropout(x * self.weight + y + self.calls)


def called(state: tuple[tuple[str, torch.Tensor], ...], *inputs: Any, options: tuple[str, ...] = ()) -> Any:
    entry = entry_of(Affine, CandidateForm.MODULE)
    return bound(entry, (*inputs, (2,), state, SEED, options))()


def test_weights_by_name_buffers_copied_dropout_off() -> None:
    weight, calls, one = torch.tensor([2.0, 3.0]), torch.tensor(10.0), torch.ones(2)

    found = called((("weight", weight), ("calls", calls)), one, one)

    assert found.tolist() == [14.0, 15.0]
    assert (weight.tolist(), calls.item()) == ([2.0, 3.0], 10.0)


def test_fp4_arguments_are_views_of_their_bytes() -> None:
    octets = torch.tensor([0x21, 0x43], dtype=torch.uint8)

    def entry(scale: float, packed: torch.Tensor) -> None:
        assert (scale, packed.dtype) == (2.0, torch.float4_e2m1fn_x2)
        packed.view(torch.uint8)[0] = 0x7F

    bound(entry_of(entry, CandidateForm.DESTINATION, fp4=(1,)), (2.0, octets))()

    assert octets.tolist() == [0x7F, 0x43]


def test_packed_inputs_spread() -> None:
    state = (("weight", torch.ones(2)), ("calls", torch.tensor(0.0)))
    assert called(state, (torch.ones(2), torch.ones(2)), options=("packed",)).tolist() == [3.0, 3.0]


def test_missing_weight_named_and_drawn_under_the_seed(capsys: pytest.CaptureFixture[str]) -> None:
    torch.manual_seed(7)
    drawn = torch.randn(2)
    state = (("kernel", torch.ones(2)), ("weight", torch.ones(3)), ("calls", torch.tensor(-1.0)))

    found = called(state, torch.ones(2), torch.zeros(2))

    assert torch.equal(found, drawn)
    assert "Affine has no parameter or buffer kernel, weight" in capsys.readouterr().err


def test_making_a_module_leaves_the_random_stream() -> None:
    before = torch.get_rng_state()
    called((("calls", torch.tensor(0.0)),), torch.ones(2), torch.ones(2))
    assert torch.equal(torch.get_rng_state(), before)


def test_class_other_than_module_is_refused() -> None:
    with pytest.raises(TypeError, match=r"not a subclass of torch\.nn\.Module"):
        bound(entry_of(dict, CandidateForm.MODULE), ((), (), SEED, ()))


def test_function_called_with_all_arguments() -> None:
    assert bound(entry_of(max, CandidateForm.FUNCTION), (1, 2))() == 2


def test_nested_results_of_a_call_in_one_tuple() -> None:
    def nested(x: int) -> dict[str, Any]:
        return {"b": (x, None), "a": [x + 1]}

    assert bound(entry_of(nested, CandidateForm.CALL), ((1,), ()))() == (2, 1)
