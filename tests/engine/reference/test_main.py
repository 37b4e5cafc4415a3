"""A reference process and the judge's end of it, in one process over real pipes."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count
from pathlib import Path

import pytest
import torch

from engine import protocol
from engine.clock.scripted import ScriptedDevice
from engine.cpu_time.deadline import Interval
from engine.errors import MachineBusyError, ReferenceFaultError
from engine.judge.reference import Reference
from engine.judge.reference_deadline import ReferenceDeadline
from engine.model import CacheState, Precision
from engine.problem_source import ReferenceUnavailableError
from engine.protocol.reference import ANSWERS, QUESTIONS, WINDOW
from engine.protocol.transport.byte_stream import ByteStream
from engine.protocol.transport.byte_window import ByteWindow
from engine.reference import main
from engine.reference.harness import UnavailableError
from engine.reference.main import Answering, _opened, answer_all
from engine.reference.timing import ReferenceTimes

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
        window = ByteWindow(folder / WINDOW, creates=True)
        self.stream = ByteStream(reads=reads, writes=os.open(folder / ANSWERS, os.O_RDWR), window=window)

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
        (answer(), "did not return tensors only"),
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
        ending = r"did not answer in \d+ s with 0 s of CPU time; the limit is 5 s"
        with pytest.raises(ReferenceFaultError, match=ending):
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
    for name in (QUESTIONS, ANSWERS, WINDOW):
        (tmp_path / name).write_bytes(b"")

    with pytest.raises(ReferenceFaultError, match="has exited"):
        Reference(tmp_path, CPU, deadline=ReferenceDeadline(lambda: COMPUTING))


def test_link_in_place_of_window_refused(scripted: Scripted, tmp_path: Path) -> None:
    (tmp_path / WINDOW).rename(tmp_path / "elsewhere")
    (tmp_path / WINDOW).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ReferenceFaultError, match="has exited"):
        scripted.reference()


class Doubling:
    """A task that returns twice its argument, which it overwrites."""

    notes = ()

    def needed_bytes(self) -> None:
        return None

    def draw(self, *, seed: int, weight_seed: int, case: str) -> tuple[torch.Tensor, ...]:
        return (torch.arange(seed, dtype=torch.float32),)

    def expected(self, arguments: tuple[torch.Tensor, ...], precision: Precision) -> tuple[torch.Tensor, ...]:
        (argument,) = arguments
        return (argument.mul_(2).double(),)

    def bound(self, arguments: tuple[torch.Tensor, ...]) -> Callable[[], object]:
        return partial(self.expected, arguments, Precision.OWN)


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> ScriptedDevice:
    """A scripted device in the place of that of the reference process."""
    made = ScriptedDevice()
    monkeypatch.setattr(main, "instruments_of", lambda _: made.instruments())
    return made


@pytest.fixture
def doubling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reference]:
    """The judge's end of a process that has Doubling open, which runs in a thread."""
    monkeypatch.chdir(tmp_path)
    answering = Answering(tmp_path, limits_reading=False, keeps_draws=True)
    monkeypatch.setattr(answering, "_task", Doubling())
    stream = _opened(tmp_path)
    made = Reference(
        tmp_path, CPU, deadline=ReferenceDeadline(lambda: COMPUTING, clock=count().__next__), knows_draws=True
    )
    made.allow(1e9)
    serving = threading.Thread(target=answer_all, args=(stream, answering))
    serving.start()
    yield made
    made.close()
    serving.join()


def times(mode: protocol.CallMode) -> protocol.TimeBaseline:
    return protocol.TimeBaseline(id="i", name="eager", slots=(5, 2, 7), mode=mode, cache=CacheState.COLD)


def test_reference_timed_in_its_process(doubling: Reference, device: ScriptedDevice) -> None:
    doubling.prepare_times(seeds=((100, 1), (100, 2)))
    evictions = device.evictions

    single = doubling.time(times(protocol.CallMode.SINGLE))
    assert isinstance(single, protocol.Timed)
    assert (len(single.calls), single.method, device.evictions - evictions) == (3, "cupti", 3)
    for mode in (protocol.CallMode.BURST, protocol.CallMode.CAPTURE, protocol.CallMode.REPLAY):
        assert isinstance(doubling.time(times(mode)), protocol.Timed)

    doubling.forget_times()
    with pytest.raises(ReferenceUnavailableError, match="no call was prepared"):
        doubling.time(times(protocol.CallMode.SINGLE))


def test_timed_calls_get_contents_unchanged_by_earlier_ones(device: ScriptedDevice) -> None:
    seen: list[list[float]] = []

    class Seeing(Doubling):
        def bound(self, arguments: tuple[torch.Tensor, ...]) -> Callable[[], object]:
            return lambda: (seen.append(arguments[0].tolist()), arguments[0].mul_(2))

    timed = ReferenceTimes(Seeing(), [(torch.ones(2),), (torch.zeros(2),)], device.instruments())
    seen.clear()
    for _ in range(2):
        timed.time(times(protocol.CallMode.SINGLE))
    assert seen == [[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]] * 2


def test_file_written_in_parts_is_whole(doubling: Reference, tmp_path: Path) -> None:
    content = bytes(range(256)) * 4096  # 1 MiB: more than passes through the pipe
    doubling.write_file("stored/a", iter([bytearray(content), bytearray(content[:3])]))
    doubling.write_file("stored/empty", iter([bytearray()]))

    place = tmp_path / "task" / "stored"
    assert (place / "a").read_bytes() == content + content[:3]
    assert (place / "empty").read_bytes() == b""


def test_reference_on_cpu_not_timed(doubling: Reference, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ReferenceUnavailableError, match="calls are timed on NVIDIA GPUs only"):
        doubling.prepare_times(seeds=((100, 0),))
    (drawn,) = doubling.draw(seed=3, weight_seed=0)  # it is still there for verification
    assert isinstance(drawn, torch.Tensor) and drawn.tolist() == [0.0, 1.0, 2.0]


def test_drawn_storages_are_not_sent_back(doubling: Reference, monkeypatch: pytest.MonkeyPatch) -> None:
    size = 1 << 17
    (drawn,) = doubling.draw(seed=size, weight_seed=0)
    assert isinstance(drawn, torch.Tensor)
    sent: list[int] = []
    send = ByteStream.send

    def counted(self: ByteStream, line: bytes, parts: Sequence[torch.Tensor] = ()) -> None:
        sent.append(len(parts))
        send(self, line, parts)

    monkeypatch.setattr(ByteStream, "send", counted)

    for _ in range(2):  # what the task writes to its arguments is gone
        (output,) = doubling.expected((drawn.clone(),), Precision.OWN, dtypes=(torch.float32,))
        assert torch.equal(output, 2 * torch.arange(size, dtype=torch.float32))
    (other,) = doubling.expected((drawn + 1,), Precision.OWN)

    assert torch.equal(other, 2 * (drawn.double() + 1))
    assert sent == [0, 1, 0, 1, 1, 1]  # questions and answers in turn


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (torch.eye(2).to_sparse(), "torch.float32 with layout torch.sparse_coo"),
        (torch.zeros(2, dtype=torch.float8_e8m0fnu), "torch.float8_e8m0fnu with layout torch.strided"),
    ],
)
def test_tensor_that_cannot_travel_refused_by_kind(value: torch.Tensor, kind: str) -> None:
    with pytest.raises(UnavailableError, match=f"a tensor of {kind} cannot be handed to a candidate"):
        main._carried([[value]])
