"""Refusing tapes that contradict themselves."""

from __future__ import annotations

import msgspec
import pytest

from engine.protocol.proof.tape import Addressed, Filled, Given, Moved, TapedPlace, TapedStorage, TapedView
from engine.replay.checks import TapeError, check_tape
from tests.engine.replay.tapes import BYTES, launched, tape, vector


def _refused(recorded, *, most_bytes=1 << 20):
    with pytest.raises(TapeError) as caught:
        check_tape(recorded, [BYTES], most_bytes=most_bytes)
    return str(caught.value)


def test_an_honest_tape_is_accepted():
    expanded = TapedView(storage=0, dtype="float32", offset_bytes=0, shape=(6,), strides=(0,))
    check_tape(
        tape(Moved(target=vector(1), source=expanded), launched(vector(0), vector(1))), [BYTES], most_bytes=1 << 20
    )


def addresses(*places: tuple[int, int]) -> Addressed:
    """Storage 1 as an array of pointers to these storages and bytes."""
    return Addressed(storage=1, words=tuple(TapedPlace(storage=storage, offset_bytes=at) for storage, at in places))


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (launched(vector(0), vector(2)), "step 0: storage 2 of 2"),
        (addresses((0, 0), (2, 0), (0, 0)), "step 0: storage 2 of 2"),
        (addresses((0, 0), (0, 0)), "step 0: 2 addresses for a storage of 24 bytes"),
        (addresses((0, 0), (0, 0), (0, 25)), "step 0: the address of byte 25 of a storage of 24"),
        (launched(vector(0), vector(1, elements=7)), "step 0: byte 28 of a storage of 24"),
        (launched(vector(0), vector(1, dtype="float31")), "step 0: the element type 'float31' is not replayed"),
        (Given(storage=5), "step 0: storage 5 of 2"),
        (Given(storage=1, data=b"few"), "step 0: 3 bytes for a storage of 24"),
        (Filled(target=vector(1), element=b"\0\0"), "step 0: an element of 2 bytes is not a float32"),
        (Moved(target=vector(1), source=vector(0, elements=2)), "step 0: shapes (6,) and (2,) differ"),
        (msgspec.structs.replace(launched(vector(0), vector(1)), specialisation=1), "step 0: specialisation 1 of 1"),
    ],
    ids=[
        "no storage", "pointer", "pointers", "behind", "outside", "no type", "given", "data", "element", "shapes",
        "specialisation",
    ],
)  # fmt: skip
def test_a_step_that_does_not_fit_is_refused(step, message):
    assert _refused(tape(step)) == message


def test_an_output_that_expands_without_end_is_refused():
    endless = TapedView(storage=1, dtype="float32", offset_bytes=0, shape=(1 << 40,), strides=(0,))
    assert _refused(tape(returned=(endless,))).startswith("output 0: 4,398,046,511,104 bytes")


def test_more_memory_than_allowed_is_refused():
    assert _refused(tape(), most_bytes=40) == "its storages have 48 bytes, more than 40"


def test_an_argument_of_another_size_is_refused():
    wrong = msgspec.structs.replace(tape(), storages=(TapedStorage(bytes=8, argument=0), TapedStorage(bytes=BYTES)))
    assert _refused(wrong) == "storage 0 has 8 bytes, not 24"


def test_moves_without_end_are_refused():
    steps = [Moved(target=vector(1), source=vector(0))] * 129
    assert _refused(tape(*steps)) == "it moves 3,096 bytes in memory of 48"
