"""A reference process and the judge's end of it, in one process over real pipes."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
import torch

from engine.cpu_time.deadline import Interval
from engine.errors import MachineBusyError, ReferenceFaultError
from engine.judge.reference import Reference
from engine.judge.reference_deadline import ReferenceDeadline
from engine.model import Precision
from engine.protocol.byte_stream import ByteStream, StreamError, checked_values
from engine.protocol.messages import TensorSpec
from engine.protocol.reference import ANSWERS, QUESTIONS

CPU = torch.device("cpu")
Answers = list[tuple[bytes, list[torch.Tensor]]]
COMPUTING = Interval(wall_s=0.01, cpu_s=0.01)


class Scripted:
    """The far end of a Reference: sends these answers, whatever the questions are."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in (QUESTIONS, ANSWERS):
            os.mkfifo(folder / name)
        reads = os.open(folder / QUESTIONS, os.O_RDONLY | os.O_NONBLOCK)
        self.stream = ByteStream(reads=reads, writes=os.open(folder / ANSWERS, os.O_RDWR))

    def reference(self, used: Interval = COMPUTING, *, limit_s: float = 5.0) -> Reference:
        """The judge's end; `used` is what each look at the process finds, without a clock."""
        made = Reference(
            self.folder, CPU, deadline=ReferenceDeadline(lambda: used, clock=count().__next__), most_bytes=64
        )
        made.allow(limit_s)
        return made


@pytest.fixture
def scripted(tmp_path: Path) -> Iterator[Scripted]:
    end = Scripted(tmp_path)
    yield end
    end.stream.close()


TENSOR = '{"kind":"tensor","storage":0,"dtype":"float32","shape":[2],"strides":[1],"first":0}'


def answer(values: str = "", storages: str = "") -> bytes:
    return f'{{"type":"answered","values":[{values}],"storages":[{storages}]}}'.encode()


def test_reference_answer_becomes_tensors(scripted: Scripted) -> None:
    scripted.stream.send(answer(TENSOR, "8"), [torch.tensor([1.0, 2.0]).view(torch.uint8)])

    (output,) = scripted.reference().expected((), Precision.OWN)

    assert output.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"no json", "JSON"),
        (answer(TENSOR, "4"), "larger than its storage"),
        (answer(TENSOR.replace("[1]", "[-1]"), "8"), "no storage holds"),
        (answer(TENSOR.replace('"storage":0', '"storage":3'), "8"), "no storage holds"),
        (answer(TENSOR.replace("float32", "quint8"), "8"), "quint8"),
        (answer(TENSOR, "65"), "at most 64"),
        (answer(), "returned no tensor"),
        (b'{"type":"could_not","reason":"ValueError: no"}', "ValueError: no"),
    ],
)
def test_bad_answer_problem_fault(scripted: Scripted, line: bytes, said: str) -> None:
    scripted.stream.send(line, [torch.zeros(8, dtype=torch.uint8)])

    with pytest.raises(ReferenceFaultError, match=said):
        scripted.reference().expected((), Precision.OWN)


def test_silent_reference_problem_fault_for_good(scripted: Scripted) -> None:
    reference = scripted.reference(Interval(wall_s=10.0))
    for _ in range(20):
        with pytest.raises(ReferenceFaultError, match=r"did not answer in \d+ s \(0 s of CPU time\); it is given 5 s"):
            reference.draw(seed=1, weight_seed=2)


def test_reference_without_cpu_time_no_problem_fault(scripted: Scripted) -> None:
    reference = scripted.reference(Interval(wall_s=1000.0, cpu_s=0.01, delayed_s=999.0))
    for _ in range(2):
        with pytest.raises(MachineBusyError, match=r"too busy: the reference process was given 0\.01 s"):
            reference.draw(seed=1, weight_seed=2)


def test_dead_reference_problem_fault(scripted: Scripted) -> None:
    reference = scripted.reference()
    scripted.stream.close()

    with pytest.raises(ReferenceFaultError, match="it ended"):
        reference.draw(seed=1, weight_seed=2)


def test_file_in_place_of_pipe_refused(tmp_path: Path) -> None:
    for name in (QUESTIONS, ANSWERS):
        (tmp_path / name).write_bytes(b"")

    with pytest.raises(ReferenceFaultError, match="gone"):
        Reference(tmp_path, CPU, deadline=ReferenceDeadline(lambda: COMPUTING))


def test_stream_more_than_a_pipe_holds(tmp_path: Path) -> None:
    (theirs, writes), content = os.pipe(), torch.arange(1 << 18, dtype=torch.int32).view(torch.uint8)
    unused, sender_only = os.pipe()
    sender, receiver = ByteStream(reads=unused, writes=writes), ByteStream(reads=theirs, writes=sender_only)
    sending = threading.Thread(target=sender.send, args=(b"head", [content]))
    sending.start()
    assert receiver.line(most_bytes=16) == b"head"
    (found,) = receiver.storages([content.numel()], most_bytes=1 << 30)
    sending.join()
    receiver.close()
    sender.close()
    assert torch.equal(found, content)


def test_long_line_refused(tmp_path: Path) -> None:
    reads, writes = os.pipe()
    stream = ByteStream(reads=reads, writes=writes)
    stream.send(b"x" * 100)
    with pytest.raises(StreamError, match="more than 10"):
        stream.line(most_bytes=10)
    stream.close()


def test_tensor_past_its_storage_refused() -> None:
    spec = TensorSpec(storage=0, dtype="int64", shape=(2, 3), strides=(4, 1), first=1)
    assert checked_values((spec,), [torch.zeros(64, dtype=torch.uint8)])
    with pytest.raises(StreamError):
        checked_values((spec,), [torch.zeros(63, dtype=torch.uint8)])
