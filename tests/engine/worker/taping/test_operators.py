"""Operators that only allocate, fill or move are replayed from their tape, to the bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from engine.protocol.proof.tape import Given, LookedUp, Tape, read_tape
from engine.replay.checks import check_tape
from engine.replay.elements import view_of
from engine.replay.execution import Replay
from engine.worker.monitor.operators.ledger import Ledger
from engine.worker.taping.recorder import TapeRecorder
from tests.engine.replay.tapes import replay_on_host, zeros

TABLE = torch.arange(4.0)


class Wrapped(torch.Tensor):
    """A tensor without memory, whose operators are answered by its own code."""

    inner: torch.Tensor

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        """The exponential of the inner tensor, whatever the operator is."""
        return args[0].inner.exp()


def taped(call: Callable[[torch.Tensor], Any]) -> tuple[Tape, torch.Tensor, torch.Tensor]:
    """The tape of a call on a (4, 6) tensor, its argument as it was, and what it returned."""
    recorder, argument = TapeRecorder(), torch.arange(24.0)
    ledger = Ledger(recorder=recorder)
    before = argument.clone()
    with ledger.of_call("c", (argument,)), recorder.of_call((argument.view(torch.uint8),), __file__):
        returned = call(argument.view(4, 6))
        text = recorder.tape((returned,))
    return read_tape(text), before, returned


def replayed(tape: Tape, argument: torch.Tensor) -> tuple[np.ndarray, Replay]:
    content = argument.view(torch.uint8).numpy()
    check_tape(tape, [len(content)], most_bytes=1 << 20)
    state = replay_on_host(tape, [content], {}, poison=zeros)
    (view,) = tape.returned
    assert view is not None
    return view_of(state.content[view.storage], view), state


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.clone(),
        lambda x: x.t().contiguous(),
        lambda x: x.t().reshape(-1),
        lambda x: x[1:, ::2],
        lambda x: x.double(),
        lambda x: x.to(torch.int32),
        lambda x: x.to(torch.float16),
        lambda x: torch.cat([x, x.t().reshape(4, 6)], dim=-1),
        lambda x: torch.cat([torch.empty(0), x]),
        lambda x: torch.stack([x, x], dim=1),
        lambda x: torch.nn.functional.pad(x, (1, 2, 0, 1), value=3.0),
        lambda x: torch.nn.functional.pad(x, (-1, 0)),
        lambda x: torch.zeros_like(x).copy_(x[0]),
        lambda x: x.new_full((3,), 2.5),
        lambda x: torch.full((2, 2), 7, dtype=torch.int64),
        lambda x: torch.empty_like(x).fill_(1.5),
        lambda x: torch.ones(5, dtype=torch.bool),
        lambda x: torch.zeros(5, dtype=torch.float4_e2m1fn_x2).view(torch.uint8),
        lambda x: torch.empty(3).fill_(x[0, 1]),
        lambda x: x.zero_(),
        lambda x: torch._foreach_copy_([torch.empty(6)], [x[2]])[0],
        lambda x: x[x[0, :4].long().view(2, 2)],
        lambda x: x.t()[:, x[0, :3].to(torch.int32)],
        lambda x: torch.index_select(x, -1, x[0, 2:5].long()),
        lambda x: torch.gather(x, 1, x[0, :3].long().view(3, 1)),
        lambda x: torch.nn.functional.embedding(x[0, :2].long(), x),
    ],
    ids=lambda call: "",
)
def test_moving_operators_are_replayed_bitwise(call):
    tape, argument, returned = taped(call)
    elements, state = replayed(tape, argument)
    assert elements.tolist() == returned.tolist()
    assert (tape.incomplete, state.foreign) == ("", {})


@pytest.mark.parametrize(
    ("call", "operators"),
    [
        (lambda x: x @ x.t(), ["aten::mm"]),
        (lambda x: torch.empty(4, 6).copy_(x.exp()), ["aten::exp"]),
        (lambda x: x.mul_(2), ["aten::mul_"]),
    ],
    ids=["product", "copied", "in place"],
)
def test_computing_operator_is_named_without_data(call, operators):
    tape, argument, _ = taped(call)
    given = [step for step in tape.steps if isinstance(step, Given)]
    assert [(step.operator, step.data, step.line is not None) for step in given] == [
        (name, None, True) for name in operators
    ]
    assert set(replayed(tape, argument)[1].foreign.values()) == {frozenset({0})}


def _in_powers(x: torch.Tensor) -> torch.Tensor:
    """The bytes of a copy as an element type that is not replayed."""
    return x.view(torch.float8_e8m0fnu).clone()


@pytest.mark.parametrize(
    ("call", "operators"),
    [
        (lambda x: x.to(torch.float8_e4m3fn).view(torch.uint8), ["aten::copy_.float8_e4m3fn"]),
        (lambda x: torch.complex(x, x).conj().resolve_conj(), ["aten::complex", "aten::resolve_conj"]),
        (lambda x: x._neg_view().clone(), ["aten::resolve_neg"]),
        (lambda x: _in_powers(x).view(torch.float32), ["aten::copy_.float8_e8m0fnu"]),
        (lambda x: _in_powers(x).fill_(1).view(torch.float32), ["aten::copy_.float8_e8m0fnu", "aten::fill_"]),
        (lambda x: x.to_sparse().to_dense(), ["aten::_to_dense"]),
    ],
    ids=["8-bit float", "conjugates", "negatives", "unknown type", "fill of an unknown type", "sparse"],
)
def test_copy_that_cannot_be_replayed_is_an_operator(call, operators):
    tape, argument, _ = taped(call)
    given = [step.operator for step in tape.steps if isinstance(step, Given)]
    assert (tape.incomplete, given) == ("", operators)
    assert replayed(tape, argument)[1].foreign != {}


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x[x > 3],
        lambda x: x[x[0, :2].long(), x[0, 1:3].long()],
        lambda x: torch.take(x, x[0, :2].long()),
    ],
    ids=["mask", "two positions", "flat"],
)
def test_other_look_ups_are_not_replayed(call):
    tape, argument, _ = taped(call)
    assert [step for step in tape.steps if isinstance(step, LookedUp)] == []
    assert replayed(tape, argument)[1].foreign != {}


def test_a_look_up_in_a_table_is_noted():
    tape, argument, _ = taped(lambda x: TABLE[x[0, :2].long()])
    assert replayed(tape, argument)[1].looks_up_foreign


def test_lookup_in_argument_is_not_table_lookup():
    tape, argument, _ = taped(lambda x: x[x[0, :2].long()])
    assert not replayed(tape, argument)[1].looks_up_foreign


def test_memory_of_before_the_call_is_a_constant():
    tape, _, _ = taped(lambda x: TABLE.clone())
    (given,) = [step for step in tape.steps if isinstance(step, Given)]
    assert (given.operator, given.data) == ("", TABLE.numpy().tobytes())


def test_table_made_without_arguments_has_its_data():
    tape, _, _ = taped(lambda x: torch.arange(4).cos())
    assert [(step.operator, step.data is None) for step in tape.steps] == [
        ("aten::arange", False),
        ("aten::cos", False),
    ]


def test_numbers_from_outside_torch_have_unknown_origin():
    tape, _, _ = taped(lambda x: torch.tensor([1.0, 2.0]))
    assert [step.operator for step in tape.steps] == [""]


def test_a_number_that_the_host_reads_is_noted():
    tape, _, _ = taped(lambda x: x if x[0, 0].item() == 0 else x.clone())
    assert [(read.operator, read.line is not None) for read in tape.reads] == [("Tensor.item", True)]


def test_query_without_dependents_changes_no_output():
    tape, argument, _ = taped(lambda x: x.clone() if not x.isnan().any() else x)
    elements, state = replayed(tape, argument)
    (view,) = tape.returned
    assert view is not None
    assert elements.tolist() == argument.view(4, 6).tolist()
    assert view.storage not in state.foreign


def test_nontensor_value_is_not_a_view():
    assert taped(lambda x: 3)[0].returned == (None,)


def test_storages_beyond_the_limit_make_tape_incomplete(monkeypatch):
    monkeypatch.setattr("engine.worker.taping.memory.MOST_STORAGES", 2)
    tape, _, _ = taped(lambda x: x.clone().clone())
    assert tape.incomplete == "a call of more than 2 pieces of memory"


def test_clone_of_tensor_without_memory_is_not_disturbed():
    def call(x: torch.Tensor) -> torch.Tensor:
        wrapped = torch.Tensor._make_wrapper_subclass(Wrapped, x.shape, dtype=x.dtype)
        wrapped.inner = x
        return wrapped.clone()

    tape, before, returned = taped(call)
    assert torch.equal(returned, before.view(4, 6).exp())
    assert tape.incomplete.startswith("RuntimeError while it was recorded")
