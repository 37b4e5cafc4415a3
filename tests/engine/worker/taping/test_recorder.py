"""Launches on a tape: which arguments they have, and what a launch that fails leaves."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace

import pytest
import torch
import triton
import triton.language as tl
from triton.runtime.jit import TensorWrapper
from triton.tools.tensor_descriptor import TensorDescriptor

from engine.protocol.messages import FloatSpec
from engine.protocol.proof.tape import (
    MOST_STEPS,
    Addressed,
    ClaimedKernel,
    Filled,
    Given,
    Launched,
    Moved,
    TapedDescriptor,
    TapedNumber,
    TapedPlace,
    TapedView,
    read_tape,
)
from engine.worker.launches.recorder import _Launch
from engine.worker.taping.recorder import TapeRecorder

X = torch.arange(8.0)
WHOLE = TapedView(storage=0, dtype="float32", offset_bytes=0, shape=(8,), strides=(1,))
CLAIMED = ClaimedKernel(ttir="module {}", arguments=("x", "sizes.0", "sizes.1", "n", "eps", "flag"))
SOURCE = SimpleNamespace(
    signature={"x": "*fp32", "sizes": ("*fp32", "i32"), "n": "i32", "eps": "fp32", "flag": "i1", "block": "constexpr"}
)


@triton.jit
def kernel(x, sizes, n, eps, flag, block: tl.constexpr):
    pass


def taken(*values, ttir="module {}"):
    by_name = dict(zip(("x", "sizes", "n", "eps", "flag"), values, strict=True))
    return _Launch(
        function=kernel.fn,
        sizes=(2, 1, 1),
        values={**by_name, "block": 64},
        options={"num_warps": 8},
        compiled=SimpleNamespace(asm={"ttir": ttir}, src=SOURCE),
    )


def launched(*values, fails=False):
    """The steps of a call that launches the kernel once, on the storage of X."""
    recorder = TapeRecorder()
    with recorder.of_call((X.view(torch.uint8),), __file__):
        with (
            contextlib.suppress(ZeroDivisionError),
            recorder.launching(taken(*values)),
        ):
            assert not recorder.is_on
            if fails:
                raise ZeroDivisionError
        text = recorder.tape(())
    return read_tape(text)


@pytest.mark.parametrize("empty", [X[3:3], torch.empty(0)], ids=["view", "no storage"])
def test_tensors_without_elements_share_a_storage_without_bytes(empty):
    tape = launched(empty, (empty, X), 7, 0.5, True)
    (step,) = tape.steps
    values = {argument.name: argument.value for argument in step.arguments}
    assert values["x"] == values["sizes.0"]
    assert values["x"] == TapedView(storage=1, dtype="float32", offset_bytes=0, shape=(0,), strides=(1,))
    assert [storage.bytes for storage in tape.storages] == [32, 0]


def test_host_copy_of_argument_is_a_move_of_it():
    recorder, copy = TapeRecorder(), X.clone()
    with recorder.of_call((X.view(torch.uint8),), __file__, host_copies=((copy, X),)):
        assert recorder.depends((copy,))
        recorder.read("aten::item", copy)
        text = recorder.tape(())
    target = TapedView(storage=1, dtype="float32", offset_bytes=0, shape=(8,), strides=(1,))
    assert read_tape(text).steps == (Moved(target=target, source=WHOLE),)
    assert len(read_tape(text).reads) == 1


@pytest.mark.parametrize("fills", [1, MOST_STEPS + 1])
def test_fills_of_one_place_are_a_single_step(fills):
    recorder, y, marks = TapeRecorder(), torch.empty(8), torch.empty(2)
    with recorder.of_call((X.view(torch.uint8),), __file__):
        for tensor in (y, marks):
            recorder.allocated(tensor)
        recorder.moved(y, X)
        for _ in range(fills):
            recorder.filled(marks, 0)
        text = recorder.tape((y, marks))
    recorded = read_tape(text)
    assert ([type(step) for step in recorded.steps], recorded.incomplete) == ([Moved, Filled], "")


def test_argument_that_is_its_own_host_copy_has_no_move():
    recorder = TapeRecorder()
    with recorder.of_call((X.view(torch.uint8),), __file__, host_copies=((X, X),)):
        text = recorder.tape(())
    assert read_tape(text).steps == ()


def test_a_launch_has_its_arguments_by_name():
    tape = launched(X[2:], (X, 5), 7, 0.5, True)
    (step,) = tape.steps
    assert isinstance(step, Launched)
    view = TapedView(storage=0, dtype="float32", offset_bytes=8, shape=(6,), strides=(1,))
    assert {argument.name: argument.value for argument in step.arguments} == {
        "x": view,
        "sizes.0": WHOLE,
        "sizes.1": TapedNumber(value=5),
        "n": TapedNumber(value=7),
        "eps": FloatSpec(hex=(0.5).hex()),
        "flag": TapedNumber(value=True),
    }
    assert step.grid == (2, 1, 1)


def test_a_specialisation_is_on_the_tape_once():
    tape = launched(X, (X, 5), 7, 0.5, True)
    (launch,) = tape.specialisations
    assert (launch.kernel, launch.num_warps, launch.grid, launch.constants["block"]) == ("kernel", 8, (1, 1, 1), "64")
    assert tape.claimed == (CLAIMED,)


def test_a_descriptor_has_its_shape_and_strides():
    descriptor = TensorDescriptor(X.view(2, 4), [2, 4], [4, 1], [1, 4])
    (step,) = launched(descriptor, X, 7, 0.5, True).steps
    base = TapedView(storage=0, dtype="float32", offset_bytes=0, shape=(2, 4), strides=(4, 1))
    assert step.arguments[0].value == TapedDescriptor(base=base, shape=(2, 4), strides=(4, 1))


class OtherFloat(float):
    def hex(self):
        return (0.0).hex()


class OtherInt(int):
    def __index__(self):
        return 0

    __int__ = __index__

    def __lt__(self, other):
        return False

    def __sub__(self, other):
        return 0


def test_numbers_of_other_classes_are_recorded_as_kernels_get_them():
    (step,) = launched(X, (X, OtherInt(5)), OtherInt(7), OtherFloat(0.5), True).steps
    values = {argument.name: argument.value for argument in step.arguments}
    assert (values["sizes.1"], values["n"]) == (TapedNumber(value=5), TapedNumber(value=7))
    assert values["eps"] == FloatSpec(hex=(0.5).hex())


def test_wrapper_of_a_tensor_is_recorded_as_a_view_of_it():
    (step,) = launched(TensorWrapper(X, torch.int32), X, 7, 0.5, True).steps
    assert step.arguments[0].value == WHOLE


class Computed(TensorWrapper):
    reads = 0

    def __init__(self):
        self.dtype = torch.float32

    @property
    def base(self):
        Computed.reads += 1
        return X


def test_class_that_computes_its_tensor_leaves_the_tape_incomplete():
    tape = launched(Computed(), X, 7, 0.5, True)
    assert tape.incomplete == "an argument of the class Computed, which computes what it points to"
    assert Computed.reads == 1  # for the description that every launch has, taped or not


def test_address_as_a_number_leaves_the_tape_incomplete():
    assert launched(X, X, X.data_ptr() + 31, 0.5, True).incomplete == "a launch gets the address of memory as a number"
    assert launched(X, X, X.data_ptr() - 1, 0.5, True).incomplete == ""


def test_content_that_no_step_has_left_is_of_unknown_origin():
    recorder, given = TapeRecorder(), torch.zeros(8)
    with recorder.of_call((given.view(torch.uint8),), __file__):
        given.numpy()[3] = 1.0
        with recorder.launching(taken(given, 5, 7, 0.5, True)):
            given.numpy()[4] = 2.0  # by the kernel
        with recorder.launching(taken(given, 5, 7, 0.5, True)):
            pass
        given.numpy()[5] = 3.0
        first, launch, again, last = read_tape(recorder.tape((given,))).steps
    assert (first.storage, first.operator, first.data[12:16]) == (0, "", bytes.fromhex("0000803f"))
    assert isinstance(launch, Launched) and isinstance(again, Launched)
    assert last.data[20:24] == bytes.fromhex("00004040")


@pytest.mark.parametrize(
    ("ttir", "kinds"),
    [("module {}", [Launched, Given]), ("tt.int_to_ptr %address : i64 -> !tt.ptr<f32>", [Launched])],
    ids=["arguments", "all memory"],
)
def test_launch_may_write_its_arguments_or_all_memory(ttir, kinds):
    recorder, argument, other = TapeRecorder(), torch.zeros(8), torch.zeros(8)
    with recorder.of_call((argument.view(torch.uint8), other.view(torch.uint8)), __file__):
        with recorder.launching(taken(argument, (argument, 5), 7, 0.5, True, ttir=ttir)):
            other.numpy()[4] = 2.0  # by the kernel
        steps = read_tape(recorder.tape((other,))).steps
    assert [type(step) for step in steps] == kinds


def test_changes_of_large_memory_are_found():
    recorder, given = TapeRecorder(), torch.zeros(1 << 19)
    with recorder.of_call((given.view(torch.uint8),), __file__):
        given.numpy()[-1] = 1.0
        recorder.taken((given,))
        (step,) = read_tape(recorder.tape(())).steps
    assert isinstance(step, Given)


def test_memory_with_other_bounds_leaves_the_tape_incomplete():
    whole = torch.zeros(16)
    part = torch.from_numpy(whole.numpy()[4:8])
    recorder = TapeRecorder()
    with recorder.of_call((whole.view(torch.uint8),), __file__):
        recorder.taken((part,))
        assert read_tape(recorder.tape(())).incomplete == "a tensor is in memory that has other bounds now"


class OtherList(list):
    pass


@pytest.mark.parametrize(
    ("sizes", "incomplete"),
    [
        (torch.Size([2, 4]), ""),
        (OtherList([2, 4]), "an argument of the class TensorDescriptor, which computes what it points to"),
    ],
)
def test_descriptor_is_recorded_only_with_plain_sizes(sizes, incomplete):
    tape = launched(TensorDescriptor(X.view(2, 4), sizes, [4, 1], [1, 4]), X, 7, 0.5, True)
    assert tape.incomplete == incomplete


def test_memory_missing_in_tape_is_recorded_first():
    other = torch.ones(2)
    first, second = launched(other, X, 7, 0.5, True).steps
    assert isinstance(first, Given)
    assert (first.data, first.operator) == (other.numpy().tobytes(), "")
    assert isinstance(second, Launched)


def test_an_array_of_pointers_is_noted_as_places():
    pointers = torch.tensor([X.data_ptr() + 4, X.data_ptr()])
    first, second = launched(pointers, X, 7, 0.5, True).steps
    places = (TapedPlace(storage=0, offset_bytes=4), TapedPlace(storage=0, offset_bytes=0))
    assert first == Addressed(storage=1, words=places)
    assert isinstance(second, Launched)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (torch.tensor([[X.data_ptr(), 8], [X.data_ptr() + 4, -1]]), (0, 8, 4, -1)),
        (torch.tensor([X.data_ptr(), 0]), (0, None)),
        (torch.tensor([X.data_ptr() + X.nbytes]), (X.nbytes,)),
        (torch.tensor([X.data_ptr()], dtype=torch.uint64), (0,)),
    ],
    ids=["sizes", "null", "behind", "unsigned"],
)
def test_tables_with_pointers_keep_their_numbers(table, words):
    first, _ = launched(table, X, 7, 0.5, True).steps
    assert isinstance(first, Addressed)
    places = {at: TapedPlace(storage=0, offset_bytes=at) for at in (0, 4, X.nbytes)}
    numbers = {8: 8, -1: -1, None: 0}
    assert first.words == tuple(numbers[word] if word in numbers else places[word] for word in words)


@pytest.mark.parametrize(
    "numbers",
    [
        torch.tensor([X.data_ptr() + X.nbytes + 1]),
        torch.tensor([X.data_ptr()]).double(),
        torch.tensor([1, 2, 3]),
    ],
    ids=["far behind", "floats", "numbers"],
)
def test_other_numbers_are_not_a_pointer_array(numbers):
    first, _ = launched(numbers, X, 7, 0.5, True).steps
    assert (type(first), first.data) == (Given, numbers.numpy().tobytes())


def test_a_launch_that_fails_leaves_nothing():
    tape = launched(X, X, 7, 0.5, True, fails=True)
    assert (tape.steps, tape.specialisations) == ((), ())


@pytest.mark.parametrize("number", [2**63, 2**63 + 1, 2**64 - 1, -(2**63)])
def test_a_large_integer_keeps_its_bits(number):
    (step,) = launched(X, X, number, 0.5, True).steps
    assert isinstance(step, Launched)
    value = step.arguments[2].value
    assert isinstance(value, TapedNumber)
    assert value.value % 2**64 == number % 2**64


def test_nothing_is_recorded_outside_of_a_call():
    recorder = TapeRecorder()
    with recorder.launching(taken(X, X, 7, 0.5, True)):
        pass
    assert read_tape(recorder.tape(())).steps == ()
