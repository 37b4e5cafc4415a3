"""Every operator of torch that is called is in the ledger, with how much it took and made."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from engine.protocol.monitoring import OperatorKind, OperatorSeen
from engine.worker.monitor.operators.ledger import Ledger
from engine.worker.monitor.operators.origins import Origin
from engine.worker.taping.recorder import TapeRecorder

X = torch.arange(64.0).view(8, 8)


def seen(call: Callable[[torch.Tensor], object], *, times: int = 1) -> dict[str, OperatorSeen]:
    ledger = Ledger()
    for _ in range(times):
        with ledger.of_call("c", (X, 3, [X])):
            call(X)
    return {f"{one.name}{'' if one.reads_inputs else ' of its own'}": one for one in ledger.seen()}


@pytest.mark.parametrize(
    ("call", "kinds"),
    [
        (lambda x: torch.empty(3), {OperatorKind.ALLOCATION}),
        (lambda x: torch.zeros_like(x), {OperatorKind.ALLOCATION}),
        (lambda x: torch.tensor(3.0), {OperatorKind.ALLOCATION, OperatorKind.VIEW}),
        (lambda x: x.new_full((2,), 1.0).fill_(2), {OperatorKind.ALLOCATION}),
        (lambda x: x.view(-1)[3:].unsqueeze(0).expand(2, -1), {OperatorKind.VIEW}),
        (lambda x: x.t().unbind(), {OperatorKind.VIEW}),
        (lambda x: x[0, 0].item(), {OperatorKind.VIEW, OperatorKind.METADATA}),
        (lambda x: x.t().contiguous(), {OperatorKind.VIEW, OperatorKind.COPY}),
        (lambda x: x.half(), {OperatorKind.COPY}),
        (lambda x: torch.nn.functional.pad(x, (0, 8)), {OperatorKind.COPY}),
        (lambda x: torch.cat([x, x]), {OperatorKind.COPY}),
        (lambda x: torch.randn(3), {OperatorKind.RANDOM}),
        (lambda x: bool((x > 70).any()), {OperatorKind.QUESTION, OperatorKind.METADATA}),
        (lambda x: bool(((x < 0) | (x >= 64)).any()), {OperatorKind.QUESTION, OperatorKind.METADATA}),
        (lambda x: ~x.isnan() & (x != 1), {OperatorKind.QUESTION}),
        (lambda x: x.int() & 1, {OperatorKind.COPY, OperatorKind.COMPUTE}),
        (lambda x: torch.bitwise_or(x.int(), x > 3), {OperatorKind.COPY, OperatorKind.QUESTION, OperatorKind.COMPUTE}),
        (lambda x: x + x, {OperatorKind.LIGHT}),
        (lambda x: x.sum(0), {OperatorKind.LIGHT}),
        (lambda x: torch.softmax(x, -1), {OperatorKind.COMPUTE}),
        (lambda x: x @ x, {OperatorKind.COMPUTE}),
        (lambda x: torch.ops.aten.mm(x, x), {OperatorKind.COMPUTE}),
        (lambda x: getattr(torch, "m" + "m")(x, x), {OperatorKind.COMPUTE}),
        (lambda x: torch.nn.functional.silu(x), {OperatorKind.COMPUTE}),
        (lambda x: x.index_select(0, x[0, 1:2].int()), {OperatorKind.COMPUTE, OperatorKind.COPY, OperatorKind.VIEW}),
    ],
)
def test_an_operator_is_of_its_kind(call: Callable[[torch.Tensor], object], kinds: set[OperatorKind]) -> None:
    reported = {one.kind for one in seen(call).values()}
    assert kinds - {OperatorKind.VIEW} <= reported <= kinds


@pytest.mark.parametrize(
    ("call", "integers"),
    [
        (lambda x: torch.arange(64) * 3, {"aten::mul": True}),
        (lambda x: torch.arange(64) >> 2, {"aten::__rshift__": True}),
        (lambda x: x.long() // 2, {"aten::floor_divide": True}),
        (lambda x: x * 3, {"aten::mul": False}),
        (lambda x: x.view(torch.int32) + 1, {"aten::add": False}),
        (lambda x: torch.where(x > 1, x.long(), 7), {"aten::where": True}),
        (lambda x: torch.where(x > 1, x, 7), {"aten::where": False}),
        (lambda x: x.view(torch.int32).clone() & 7, {"aten::bitwise_and": False}),
        (lambda x: torch.zeros(64).view(torch.int32).add_(1), {"aten::add_": False}),
    ],
)
def test_bits_of_fractions_are_no_integers(call: Callable[[torch.Tensor], object], integers: dict[str, bool]) -> None:
    computing = (OperatorKind.LIGHT, OperatorKind.COMPUTE)
    assert {one.name: one.integers for one in seen(call).values() if one.kind in computing} == integers


@pytest.mark.parametrize(
    ("call", "integers"),
    [
        (lambda x, m: m | m, True),
        (lambda x, m: torch.logical_or(m, ~m), True),
        (lambda x, m: m & torch.empty(64, dtype=torch.bool), False),
        (lambda x, m: m | x.view(torch.bool)[:64], False),
    ],
    ids=["arguments", "of arguments", "of a kernel", "bits of fractions"],
)
def test_masks_of_arguments_count_as_integers(
    call: Callable[[torch.Tensor, torch.Tensor], object], *, integers: bool
) -> None:
    steps: list[bool] = []

    class Receiver(TapeRecorder):
        def given(self, *args: Any, integers: bool = False) -> None:
            steps.append(integers)

    x, mask = torch.zeros(64), torch.zeros(64, dtype=torch.bool)
    ledger = Ledger(recorder := Receiver())
    storages = (x.view(torch.uint8), mask.view(torch.uint8))
    with ledger.of_call("c", (x, mask)), recorder.of_call(storages, __file__):
        call(x, mask)
    assert steps[-1] is integers


@pytest.mark.parametrize(
    ("call", "positions"),
    [
        (lambda x, at: at + 1, True),
        (lambda x, at: torch.where(at < 0, at + 8, at), True),
        (lambda x, at: torch.arange(8) + at, True),
        (lambda x, at: torch.sort(at.view(2, 4)), True),
        (lambda x, at: x + 1, False),
        (lambda x, at: x[:8] + at, False),
        (lambda x, at: torch.arange(8) + 1, False),
        (lambda x, at: _overwritten(at * 2) + 1, False),
    ],
    ids=["index", "where", "with constants", "order", "elements", "both", "constants", "memory that a kernel wrote"],
)
def test_integers_of_arguments_beside_fractions_are_positions(
    call: Callable[[torch.Tensor, torch.Tensor], object], *, positions: bool
) -> None:
    ledger, numbers, index = Ledger(), torch.zeros(64, dtype=torch.int64), torch.arange(8)
    with ledger.of_call("fractions", (torch.zeros(64), index)):
        pass
    with ledger.of_call("integers", (numbers, index)):
        call(numbers, index)
    last = [one for one in ledger.seen() if one.kind in (OperatorKind.LIGHT, OperatorKind.COMPUTE)][-1]
    assert last.positions is positions


def test_integers_are_no_positions_without_fractions_beside_them() -> None:
    ledger = Ledger()
    numbers, index = torch.zeros(64, dtype=torch.int64), torch.arange(8)
    with ledger.of_call("integers", (numbers, index)):
        torch.add(index, 1)
    assert [one.positions for one in ledger.seen()] == [False]


def test_uses_on_positions_of_several_arguments_are_counted_together() -> None:
    ledger, one, other = Ledger(), torch.arange(8), torch.arange(4)
    with ledger.of_call("c", (X, one, other)):
        torch.add(one, 1)
        torch.add(other, 1)
    assert [(seen.uses, seen.largest_out, seen.total_out) for seen in ledger.seen()] == [(2, 8, 12)]


def _overwritten(made: torch.Tensor) -> torch.Tensor:
    """This memory with integers that no operator of torch has written."""
    made.numpy()[...] = 5
    return made


def test_bit_operations_on_booleans_and_on_numbers_are_separate() -> None:
    ledger = Ledger()
    with ledger.of_call("c", (X,)):
        torch.bitwise_and(X > 1, X < 5)
        torch.bitwise_and(X.view(torch.int32).clone(), 7)
    found = [one for one in ledger.seen() if one.name == "aten::bitwise_and"]
    assert [(one.kind, one.uses) for one in found] == [(OperatorKind.QUESTION, 1), (OperatorKind.COMPUTE, 1)]


def _coded(x: torch.Tensor) -> torch.Tensor:
    """Memory with large integers that no operator of torch has written, as a kernel leaves them."""
    codes = torch.empty(64, dtype=torch.int64)
    codes.numpy()[...] = 1 << 40
    return codes


@pytest.mark.parametrize(
    ("call", "integers"),
    [
        (lambda x: torch.cumsum(_coded(x), 0), {"aten::cumsum": False}),
        (lambda x: _coded(x) & 7, {"aten::bitwise_and": True}),
        (lambda x: _coded(x).floor_divide_(-1), {"aten::floor_divide_": False}),
        (lambda x: torch.cumsum(_coded(x) + x[0, :1].long(), 0), {"aten::add": False, "aten::cumsum": False}),
        (lambda x: torch.cumsum(_coded(x)[:0], 0), {"aten::cumsum": True}),
        (lambda x: x.long() << 40, {"aten::__lshift__": True}),
        (lambda x: torch.cumsum(torch.arange(64), 0), {"aten::cumsum": True}),
    ],
    ids=["sums", "small results", "in place", "with arguments", "no elements", "of arguments", "offsets"],
)
def test_integers_beyond_all_memory_are_no_addresses(
    call: Callable[[torch.Tensor], object], integers: dict[str, bool]
) -> None:
    computing = (OperatorKind.LIGHT, OperatorKind.COMPUTE)
    noted = [one for one in seen(call).values() if one.kind in computing and one.name.startswith("aten::")]
    assert {one.name: one.integers for one in noted} == integers


IDS = torch.tensor([3, 0, 2, 3], dtype=torch.int32)
SHIFTS = torch.tensor([0, 16])  # made before any call


def _zeros_with(places: torch.Tensor, values: torch.Tensor, *, accumulate: bool = False) -> torch.Tensor:
    return torch.zeros(64, dtype=torch.int64).index_put_((places,), values, accumulate)


def _written_after(constant: torch.Tensor) -> torch.Tensor:
    constant.numpy()[...] = 5  # as a kernel would
    return constant


@pytest.mark.parametrize(
    ("call", "is_table"),
    [
        (lambda: torch.argsort(IDS), True),
        (lambda: torch.bincount(IDS), True),
        (lambda: torch.searchsorted(IDS.sort()[0], torch.arange(8, dtype=torch.int32)), True),
        (lambda: torch.arange(8).index_select(0, IDS), True),
        (lambda: torch.cumsum(torch.bincount(IDS), 0)[IDS.long()], True),
        (lambda: _zeros_with(IDS.long(), torch.arange(4)), True),
        (lambda: torch.zeros(8, dtype=torch.int64).scatter_(0, IDS.long(), 1), True),
        (lambda: _coded(X)[:4].index_put_((IDS.argsort(),), torch.arange(4)), True),
        (lambda: _coded(X)[:4].index_put_((IDS.long(),), torch.arange(4)), False),
        (lambda: _zeros_with(IDS.long(), torch.arange(4), accumulate=True), False),
        (lambda: torch.zeros(8, dtype=torch.int64).scatter_(0, IDS.long(), 1, reduce="add"), False),
        (lambda: torch.argsort(_coded(X)), False),
        (lambda: torch.argsort((X * 1000).long()), False),
        (lambda: torch.argsort(X.view(torch.int32)), False),
        (lambda: torch.argsort(X), False),
        (lambda: _coded(X).index_select(0, IDS), False),
        (lambda: _written_after(torch.zeros(8, dtype=torch.int64)).index_select(0, IDS), False),
        (lambda: torch.zeros(8, dtype=torch.uint8).index_select(0, IDS), False),
    ],
)
def test_tables_are_made_of_integers_among_the_arguments(call: Callable[[], object], *, is_table: bool) -> None:
    ledger = Ledger()
    with ledger.of_call("c", (X, IDS)):
        call()
    computing = [one for one in ledger.seen() if one.kind is OperatorKind.COMPUTE and one.name != "aten::cumsum"]
    assert computing[-1].integers is is_table


@pytest.mark.parametrize(
    ("call", "integers"),
    [
        (lambda: (IDS * (1 << 20)) >> torch.tensor([0, 4, 8, 16]), True),
        (lambda: (IDS * (1 << 20)).view(4, 1) >> SHIFTS, True),
        (lambda: (IDS * (1 << 20)) * _coded(X)[:4], False),
        (lambda: _coded(X) >> SHIFTS[:1], False),
    ],
)
def test_bits_of_arguments_are_integers(call: Callable[[], object], *, integers: bool) -> None:
    ledger = Ledger()
    with ledger.of_call("c", (X, IDS)):
        call()
    assert [one.integers for one in ledger.seen() if one.kind in (OperatorKind.LIGHT, OperatorKind.COMPUTE)][-1] is (
        integers
    )


def test_copy_of_a_negative_view_is_arithmetic() -> None:
    (copy,) = (one for one in seen(lambda x: x._neg_view().clone()).values() if one.kind is not OperatorKind.VIEW)
    assert (copy.name, copy.kind) == ("aten::resolve_neg", OperatorKind.LIGHT)


def test_copy_of_a_negative_argument_is_a_copy() -> None:
    ledger = Ledger()
    with ledger.of_call("c", (X._neg_view(),)):
        X._neg_view().clone()
    assert OperatorKind.LIGHT not in {one.kind for one in ledger.seen()}


def test_shape_inference_on_meta_device_is_not_work() -> None:
    assert seen(lambda x: torch.softmax(torch.empty_like(x, device="meta") @ x.to("meta"), -1)) == {}


def test_work_moved_to_meta_device_is_work() -> None:
    assert "aten::exp" in seen(lambda x: x.exp().to("meta"))


def test_uses_and_elements_are_counted() -> None:
    product = seen(lambda x: (x @ x, x[:2] @ x), times=2)["aten::mm"]
    assert (product.uses, product.case, product.kind) == (4, "c", OperatorKind.COMPUTE)
    assert (product.largest_in, product.largest_out) == (128, 64)
    assert (product.total_in, product.total_out) == (2 * (128 + 80), 2 * (64 + 16))


@pytest.mark.parametrize(
    ("call", "kinds"),
    [
        (lambda x: x.to(torch.float16), {OperatorKind.COPY}),
        (lambda x: torch.concat([x, x]), {OperatorKind.COPY}),
        (lambda x: x.ravel().is_floating_point(), {OperatorKind.VIEW}),
        (lambda x: torch.multiply(x, x), {OperatorKind.LIGHT}),
        (lambda x: torch.matmul(x, x), {OperatorKind.COMPUTE}),
    ],
)
def test_composite_operator_is_decomposed_in_inference_mode(
    call: Callable[[torch.Tensor], object], kinds: set[OperatorKind]
) -> None:
    def inferring(x: torch.Tensor) -> None:
        with torch.inference_mode():
            call(x)

    noted = seen(inferring)
    assert {one.kind for one in noted.values()} - {OperatorKind.METADATA} == kinds
    assert not {"aten::concat", "aten::matmul"} & set(noted)


@pytest.mark.parametrize(
    ("call", "taken"),
    [
        (lambda x: x.index_select(0, torch.tensor([2, 1])), 16 + 2),
        (lambda x: x[torch.tensor([2])], 8 + 1),
        (lambda x: torch.nn.functional.embedding(torch.tensor([2, 1]), x), 16 + 2),
        (lambda x: x[:1].index_select(0, torch.zeros(4, dtype=torch.int64)), 8 + 4),
    ],
)
def test_table_lookup_reads_only_selected_elements(call: Callable[[torch.Tensor], object], taken: int) -> None:
    (lookup,) = (one for one in seen(call).values() if one.kind is OperatorKind.COMPUTE)
    assert lookup.total_in == taken


def test_tensor_made_from_input_by_torch_reads_inputs() -> None:
    reported = seen(lambda x: torch.softmax((x.double() * 2).t().contiguous(), -1))
    assert {"aten::mul", "aten::_softmax"} <= set(reported)


def test_tensor_made_from_own_memory_reads_no_inputs() -> None:
    def finish(x: torch.Tensor) -> None:
        partial = torch.empty(4, 8)
        partial.numpy()[:] = 1  # as a kernel writes it
        partial.sum(0)

    assert [name for name in seen(finish) if "sum" in name] == ["aten::sum of its own"]


def test_memory_written_from_input_counts_as_input() -> None:
    def launder(x: torch.Tensor) -> None:
        own = torch.empty_like(x)
        own.copy_(x)
        own.exp()

    assert "aten::exp" in seen(launder)


def test_reallocated_memory_of_input_copy_is_not_input() -> None:
    ledger = Ledger()
    with ledger.of_call("c", (X,)):
        copy = X.clone()
        ledger.origins.follow(Origin(), [copy])  # as an allocation at the same address does
        copy.exp()
    assert [one.reads_inputs for one in ledger.seen() if one.name == "aten::exp"] == [False]


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda x: x.numpy(), "Tensor.numpy"),
        (lambda x: torch._C.TensorBase.numpy(x), "Tensor.numpy"),
        (lambda x: x.t().tolist(), "Tensor.tolist"),
        (lambda x: np.asarray(x), "Tensor.__array__"),
        (lambda x: np.from_dlpack(x), "Tensor.__dlpack__"),
    ],
)
def test_content_leaving_torch_is_recorded_with_size(call: Callable[[torch.Tensor], object], name: str) -> None:
    taken = seen(call)[name]
    assert (taken.kind, taken.case, taken.uses, taken.largest_out) == (OperatorKind.COMPUTE, "c", 1, 64)


def test_active_thread_is_recorded_during_a_call() -> None:
    ledger = Ledger()

    def work(operator: Callable[[torch.Tensor], object]) -> None:
        def run() -> None:
            with ledger.beside():
                operator(X)

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()

    work(torch.exp)
    with ledger.of_call("c", (X,)):
        work(torch.sin)
        work(torch.Tensor.tolist)
    assert [(one.name, one.reads_inputs) for one in ledger.seen()] == [("aten::sin", True), ("Tensor.tolist", True)]


def test_scalar_reads_are_reported_by_case_and_total() -> None:
    taken = seen(lambda x: [value.item() for value in x.flatten()])["Tensor.item"]
    assert (taken.case, taken.uses, taken.largest_out, taken.total_out) == ("c", 64, 1, 64)


def test_finiteness_query_records_no_operator() -> None:
    assert seen(lambda x: torch.isfinite(x)) == {}
    assert seen(lambda x: x.isinf()) == {}


def test_type_computing_during_query_is_recorded() -> None:
    class Busy(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            return X.exp()

    assert "aten::exp" in seen(lambda x: torch.isfinite(x.as_subclass(Busy)))


def test_traced_operator_records_its_parts_only() -> None:
    ledger = Ledger()
    library = torch.library.Library("kgtui_test_ledger", "DEF")
    library.define("twice(Tensor x) -> Tensor")

    def twice(x: torch.Tensor) -> torch.Tensor:
        with ledger.within():
            x.tolist()
            return x.exp()

    library.impl("twice", twice, "CPU")
    ledger.follow("kgtui_test_ledger::twice")
    with ledger.of_call("c", (X,)):
        torch.ops.kgtui_test_ledger.twice(X)
    assert {one.name for one in ledger.seen() if one.kind is OperatorKind.COMPUTE} == {"Tensor.tolist", "aten::exp"}


def test_untraced_operator_counts_as_computing() -> None:
    library = torch.library.Library("kgtui_test_unfollowed", "DEF")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: x.exp(), "CPU")
    reported = seen(lambda x: torch.ops.kgtui_test_unfollowed.twice(x))
    assert [(one.name, one.kind) for one in reported.values()] == [
        ("kgtui_test_unfollowed::twice", OperatorKind.COMPUTE)
    ]


def test_within_records_once_during_active_call() -> None:
    ledger = Ledger()
    with ledger.of_call("c", (X,)), ledger.within():
        X.exp()
    with ledger.within():
        X.exp()
    assert [one.uses for one in ledger.seen()] == [1]


@pytest.mark.parametrize("name", ["apply_", "map_"])
def test_numbers_handed_to_python_leave_torch(name: str) -> None:
    more = (X.clone(),) if name == "map_" else ()
    reported = seen(lambda x: getattr(x.clone(), name)(*more, lambda *numbers: numbers[0]))
    assert reported[f"Tensor.{name}"].total_out == 64


def test_tensor_subclass_work_in_torch_function_is_recorded() -> None:
    class Wrapped(torch.Tensor):
        inner: torch.Tensor

        @classmethod
        def __torch_dispatch__(cls, operator, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            return args[0].inner.exp()

    def call(x: torch.Tensor) -> object:
        wrapped = torch.Tensor._make_wrapper_subclass(Wrapped, x.shape)  # type: ignore[attr-defined]
        wrapped.inner = x
        return wrapped.clone()

    assert {"aten::exp", "aten::clone of its own"} <= set(seen(call))


def test_tensor_subclass_reads_in_torch_function_are_recorded() -> None:
    class Nosy(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            if function is torch.Tensor.neg:
                return torch._C.TensorBase.numpy(args[0].as_subclass(torch.Tensor))
            return super().__torch_function__(function, types, args, kwargs or {})

    assert "Tensor.numpy" in seen(lambda x: x.as_subclass(Nosy).neg())
    assert "aten::exp" in seen(lambda x: x.as_subclass(Nosy).exp())


def test_python_numbers_are_counted_by_case() -> None:
    reported = seen(lambda x: torch.tensor([1.0, 2.0, 3.0]))["aten::lift_fresh of its own"]
    assert (reported.case, reported.total_out) == ("c", 3)


def test_copies_and_random_numbers_are_reported_by_case() -> None:
    reported = seen(
        lambda x: torch.empty(1).uniform_(2.0, 2.0) + torch.ops.aten.clone.out(x[0], out=torch.empty(8)).sum()
    )
    assert {reported[f"aten::{name}"].case for name in ("uniform_ of its own", "clone.out")} == {"c"}


def test_copy_of_memory_onto_itself_is_ignored() -> None:
    reported = seen(lambda x: x.untyped_storage().copy_(x.untyped_storage()))
    assert "aten::copy_" not in reported


@pytest.mark.parametrize(
    "beside",
    [
        lambda rows: rows[1],
        lambda rows: rows[:, 0],
        lambda rows: rows[0].clone(),
        lambda rows: rows[0].view(torch.int32),
        lambda rows: rows[0, :1].expand(8),
    ],
)
def test_copy_within_own_memory_is_recorded(beside: Callable[[torch.Tensor], torch.Tensor]) -> None:
    rows = torch.arange(64.0).view(8, 8)
    reported = seen(lambda x: rows[0].copy_(beside(rows)))
    assert reported["aten::copy_ of its own"].uses == 1


def test_the_uses_of_a_join_are_its_pieces() -> None:
    joined = seen(lambda x: torch.cat(list(x[:5])))["aten::cat"]
    assert (joined.case, joined.uses, joined.reads_inputs) == ("c", 5, True)


def test_operator_has_the_line_of_its_first_use() -> None:
    ledger = Ledger()
    ledger.filename = __file__
    first = sys._getframe().f_lineno + 2
    with ledger.of_call("c", (X,)):
        for _ in range(2):
            torch.exp(X)
        torch.empty(3)
    assert {one.name: one.line for one in ledger.seen()} == {"aten::exp": first + 1, "aten::empty": None}


def test_unrecorded_call_leaves_ledger_empty() -> None:
    ledger = Ledger()
    with ledger.of_call("c", (X,), notes=False):
        assert ledger.is_on
        X.exp().tolist()
    assert ledger.seen() == ()


def test_nothing_outside_a_call_is_noted() -> None:
    ledger = Ledger()
    with ledger.of_call("c", ()):
        pass
    X.exp()
    assert ledger.seen() == ()


def test_cases_beyond_the_limit_are_counted() -> None:
    ledger = Ledger()
    for number in range(1025):
        with ledger.of_call(f"case {number}", (X,)):
            X.exp()
    assert len(ledger.seen()) == 1024
    assert ledger.overfull


def test_in_place_list_operators_are_counted() -> None:
    made = [torch.zeros(8), torch.zeros(8)]
    reported = seen(lambda x: (torch._foreach_copy_(made, [x[0], x[1]]), torch._foreach_exp_(made)))
    copied, computed = reported["aten::_foreach_copy_"], reported["aten::_foreach_exp_"]
    assert (copied.uses, copied.total_out, computed.uses, computed.total_out) == (2, 16, 1, 16)
