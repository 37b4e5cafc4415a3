"""What review of the engine found: each test names what should happen and fails until it does.

A test moves to the file of its subject once it passes.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import json
import math
import os
import socket
import subprocess
import sys
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
import torch
import triton

from engine import checks, events, outcomes, wire
from engine.artefacts import ArtefactStore
from engine.compilation import Builder
from engine.compiler.specialise import specialise
from engine.desk import Desk, LoadError
from engine.devices import Device
from engine.errors import ChildDiedError, EngineError, UnsupportedError, WireError
from engine.judge.compare import compare, error_map
from engine.judge.main import _Judge
from engine.lodging import Lodging
from engine.model import (
    Candidate,
    Case,
    Cost,
    DType,
    Launch,
    Limits,
    Location,
    Outcome,
    OutputReport,
    Plan,
    Problem,
    Stream,
    Tier,
    Tolerance,
    WrongElement,
)
from engine.pipeline import Run
from engine.processes.child import Child
from engine.processes.nest import Nest
from engine.source import SourceError, read_source
from engine.staff import Spare, Staff
from engine.untrusted import UntrustedFileError, read_untrusted
from engine.verification import _unlink
from engine.worker.failures import failure

EXACT = Tolerance(relative=0.0, absolute=0.0)
Answer = Callable[[str, wire.AnyCommand], wire.AnyReply | bytes | None]


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


# ------------------------------------------------------------ a nest without processes


class FakeNest:
    """Forks children that live in this process: `answer` plays their part, None keeps silent."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.forked: list[str] = []
        self.ready = True
        self._ends: dict[int, tuple[Child, list[int]]] = {}

    async def fork(self, kind: str, *, log_bytes: int, **_: object) -> Child:
        await asyncio.sleep(0)
        self.forked.append(kind)
        (their_commands, commands), (replies, their_replies) = os.pipe(), os.pipe()
        (stdout, their_stdout), (stderr, their_stderr) = os.pipe(), os.pipe()
        pid = 1 + len(self.forked)
        child = Child(cast(Nest, self), kind=kind, pid=pid, log_bytes=log_bytes)  # cast: the double at the seam
        await child.attach(commands, replies, stdout, stderr)
        self._ends[pid] = child, [their_commands, their_replies, their_stdout, their_stderr]
        os.set_blocking(their_commands, False)
        os.set_blocking(their_replies, False)
        received = bytearray()
        asyncio.get_running_loop().add_reader(their_commands, self._serve, pid, kind, received)
        if self.ready:
            self.say(pid, wire.encode(wire.Ready(id="ready")))
        else:
            self.die(pid)
        return child

    def say(self, pid: int, line: bytes) -> None:
        os.write(self._ends[pid][1][1], line)

    def die(self, pid: int) -> None:
        child, ends = self._ends.pop(pid)
        asyncio.get_running_loop().remove_reader(ends[0])
        for end in ends:
            os.close(end)
        child.gone(9)

    def order_kill(self, pid: int) -> None:
        if pid in self._ends:
            self.die(pid)

    def _serve(self, pid: int, kind: str, received: bytearray) -> None:
        received += os.read(self._ends[pid][1][0], 1 << 20)
        while b"\n" in received and pid in self._ends:
            line, _, rest = bytes(received).partition(b"\n")
            received[:] = rest
            reply = self.answer(kind, wire.decode_command(line))
            if reply is not None and pid in self._ends:
                self.say(pid, reply if isinstance(reply, bytes) else wire.encode(reply))


@pytest.fixture
def lodging() -> Iterator[Lodging]:
    lodging = Lodging()
    yield lodging
    lodging.close()


@pytest.fixture
async def employ(lodging: Lodging) -> AsyncIterator[Callable[[Answer], tuple[FakeNest, Staff]]]:
    staffs: list[Staff] = []

    def employ(answer: Answer) -> tuple[FakeNest, Staff]:
        fake = FakeNest(answer)
        nest = cast(Nest, fake)  # the double at the seam
        staff = Staff(
            workers=nest, compilers=nest, lodging=lodging, limits=Limits(), torch_device="cpu", address_space=True
        )
        staffs.append(staff)
        return fake, staff

    yield employ
    for staff in staffs:
        await staff.close()


Employ = Callable[[Answer], tuple[FakeNest, Staff]]
RELEASE = wire.Release(id="a")


def obedient(kind: str, command: wire.AnyCommand) -> wire.AnyReply:
    return wire.Done(id=command.id)


async def test_the_late_reply_to_a_cancelled_command_is_no_fault_of_the_judge(employ: Employ) -> None:
    asked: list[wire.AnyCommand] = []
    fake, staff = employ(lambda kind, command: asked.append(command))
    await staff.judge()
    abandoned = asyncio.create_task(staff.ask_judge(RELEASE))
    while not asked:
        await asyncio.sleep(0)
    abandoned.cancel()
    await asyncio.gather(abandoned, return_exceptions=True)
    fake.answer = lambda kind, command: b"".join(
        wire.encode(wire.Done(id=identifier)) for identifier in ("a", command.id)
    )
    assert await staff.ask_judge(wire.Release(id="b")) == wire.Done(id="b")


async def test_two_that_want_the_judge_at_once_share_one(employ: Employ) -> None:
    fake, staff = employ(obedient)
    first, second = await asyncio.gather(staff.judge(), staff.judge())
    assert first is second
    assert fake.forked == ["judge"]


async def test_a_command_may_be_longer_than_a_pipe(employ: Employ) -> None:
    _, staff = employ(obedient)
    returned = tuple(wire.ReturnedSpec(type_name="float") for _ in range(5000))
    command = wire.Compare(id="i", outputs="/o", max_output_bytes=1, returned=returned)
    assert await staff.ask_judge(command) == wire.Done(id="i")


async def test_a_line_that_death_cut_off_is_a_death_and_no_forgery(employ: Employ) -> None:
    fake, staff = employ(lambda kind, command: None)
    judge = await staff.judge()

    def half_a_reply(kind: str, command: wire.AnyCommand) -> None:
        fake.say(judge.pid, wire.encode(wire.Done(id=command.id))[:10])
        fake.die(judge.pid)

    fake.answer = half_a_reply
    with pytest.raises(ChildDiedError):
        await judge.ask(RELEASE, deadline_s=5.0)


async def test_a_child_that_flooded_its_pipe_leaves_no_descriptor(employ: Employ) -> None:
    fake, staff = employ(obedient)
    before = open_descriptors()
    judge = await staff.judge()
    fake.say(judge.pid, b"noise\n")
    while judge.fault is None:
        await asyncio.sleep(0)
    for _ in range(400):  # 26 MB, more than a reader buffers before it pauses
        with contextlib.suppress(BlockingIOError):
            fake.say(judge.pid, bytes(1 << 16))
        await asyncio.sleep(0)
    await judge.kill()
    for _ in range(100):
        await asyncio.sleep(0)
    assert open_descriptors() == before


async def test_a_spare_that_died_while_it_waited_is_replaced(employ: Employ) -> None:
    fake, staff = employ(obedient)
    spare = await staff.worker.wait()
    fake.die(spare.child.pid)
    hand = await staff.worker.take()
    assert hand.child.alive
    await hand.dismiss()


async def test_a_worker_that_never_got_warm_is_our_fault(employ: Employ) -> None:
    fake, staff = employ(obedient)
    fake.ready = False
    with pytest.raises(EngineError) as refused:
        await staff.worker.take()
    assert outcomes.of_worker_error(refused.value, "while loading").outcome is Outcome.ENGINE_ERROR


async def test_a_spare_that_could_not_be_made_for_want_of_disk_is_tried_again(
    employ: Employ, lodging: Lodging, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full() -> None:
        raise OSError(28, "No space left on device")

    _, staff = employ(obedient)
    with monkeypatch.context() as disk:
        disk.setattr(lodging, "open_room", full)
        with pytest.raises(OSError, match="No space"):
            await staff.worker.take()
    hand = await staff.worker.take()
    assert hand.child.alive
    await hand.dismiss()


def desk_of(staff: Staff, spare: Spare, *, source: bytes = b"") -> Desk:
    candidate = Candidate(source=source, problem="toy::twice")
    return Desk(candidate=candidate, entry="f", spare=spare, limits=Limits(), on_log=lambda *_: None)


async def test_a_worker_that_did_not_load_is_not_called(employ: Employ) -> None:
    _, staff = employ(lambda kind, command: wire.Failed(id=command.id, kind=wire.FailureKind.RAISED, message="no"))
    desk = desk_of(staff, staff.worker)
    with pytest.raises(LoadError):
        await desk.load()
    assert not desk.occupied
    await desk.clear()


LAUNCH = Launch(
    kernel="k", signature={}, constants={}, divisible_by_16=(), num_warps=4, num_stages=3, grid=(1,), line=1
)


def compile_everything(kind: str, command: wire.AnyCommand) -> wire.AnyReply:
    if isinstance(command, wire.Compile):
        name = f"{command.id}.cubin"
        (Path(command.folder) / name).write_bytes(b"binary")
        return wire.Compiled(id=command.id, stages={"cubin": name})
    return wire.Done(id=command.id)


def builder_of(staff: Staff, artefacts: Path) -> Builder:
    return Builder(
        desks=(desk_of(staff, staff.compiler),), target="sm_90", limits=Limits(),
        artefacts=ArtefactStore(folder=artefacts), clock=lambda: 0.0, on_kernel=lambda *_: None,
    )  # fmt: skip


async def test_artefacts_that_cannot_be_kept_do_not_end_the_run(employ: Employ, tmp_path: Path) -> None:
    (tmp_path / "artefacts").write_text("a file stands where the folder should be")
    _, staff = employ(compile_everything)
    builder = builder_of(staff, tmp_path / "artefacts")
    builder.add(LAUNCH)
    builder.finish()
    try:
        await builder.run()
        assert [(kernel.outcome, kernel.artefacts) for kernel in builder.kernels] == [(Outcome.PASS, ())]
    finally:
        await builder.clear()


async def test_a_binary_whose_compiler_died_later_is_passed_over(employ: Employ, tmp_path: Path) -> None:
    fake, staff = employ(compile_everything)
    builder = builder_of(staff, tmp_path)
    builder.add(LAUNCH)
    builder.add(replace(LAUNCH, num_warps=8))
    builder.finish()

    def die_at_the_second(kind: str, command: wire.AnyCommand) -> wire.AnyReply | None:
        if isinstance(command, wire.Compile) and command.launch.num_warps == 8:
            fake.die(1 + len(fake.forked))
            return None
        return compile_everything(kind, command)

    fake.answer = die_at_the_second
    try:
        await builder.run()
        await builder.disassemble(lambda *_: None)
        assert [kernel.outcome for kernel in builder.kernels] == [Outcome.PASS, Outcome.COMPILE_ERROR]
    finally:
        await builder.clear()


async def test_a_compiler_that_cannot_be_started_says_nothing_about_the_kernel(employ: Employ, tmp_path: Path) -> None:
    fake, staff = employ(compile_everything)
    fake.ready = False
    builder = builder_of(staff, tmp_path)
    builder.add(LAUNCH)
    builder.finish()
    await builder.run()
    await builder.clear()
    assert [kernel.outcome for kernel in builder.kernels] == [Outcome.UNSUPPORTED]


PROBLEM = Problem(
    name="toy::twice", entry="f", signature="f(x: Tensor) -> Tensor", summary="", category="toy",
    cases=(Case(name="empty", dtype=DType.FLOAT32, tier=Tier.FULL, params={}),),
    make_inputs=lambda case, rng: (torch.randn(4, generator=rng), int(torch.randint(1 << 30, (), generator=rng))),
    reference=lambda x: 2 * x, eager=lambda x: 2 * x, tolerance=lambda case: EXACT,
    cost=lambda case: Cost(flops=1, bytes_read=1, bytes_written=1), origin="m:P",
)  # fmt: skip


async def test_a_case_without_elements_needs_no_kernel(employ: Employ, tmp_path: Path) -> None:
    def empty_case(kind: str, command: wire.AnyCommand) -> wire.AnyReply:
        report = OutputReport(name="return", outcome=Outcome.PASS, shape=(0,), dtype="float32")
        match command:
            case wire.Load():
                return wire.Loaded(id=command.id)
            case wire.Prepare():
                arena = wire.ArenaSpec(path=command.arena_path, storages=(), bytes=0)
                return wire.Prepared(id=command.id, arguments=(), arena=arena, elapsed_s=0.0)
            case wire.Call():
                return wire.Called(id=command.id, returned=(), launches=(), elapsed_s=0.0)
            case wire.Compare():
                return wire.Compared(id=command.id, reports=(report,), digest="", mutated=None)
            case wire.Release():
                return wire.Released(id=command.id, seed=1)
            case _:
                return wire.Done(id=command.id)

    _, staff = employ(empty_case)
    candidate = Candidate(source=b"import triton\n@triton.jit\ndef k(): ...\ndef f(x): ...\n", problem="toy::twice")
    run = Run(
        candidate=candidate, plan=Plan(problem=PROBLEM, cases=PROBLEM.cases, device="cpu", target=None), staff=staff,
        artefacts=ArtefactStore(folder=tmp_path), device=Device(platform="cpu", index=0, name="cpu"), limits=Limits(),
    )  # fmt: skip
    told = [event async for event in run.stream(asyncio.Event())]
    finished = told[-1]
    assert isinstance(finished, events.RunFinished)
    assert (finished.verdict.outcome, finished.verdict.flagged) == (Outcome.PASS, False)


async def test_a_fork_that_was_cancelled_keeps_no_descriptor_and_gives_nobody_its_pid(tmp_path: Path) -> None:
    nest = Nest(folders=(tmp_path,), environment={})
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    theirs.setblocking(False)
    nest._control = ours
    asyncio.get_running_loop().add_reader(ours.fileno(), nest._receive)
    before = open_descriptors()

    def forking() -> asyncio.Task[Child]:
        return asyncio.create_task(nest.fork("worker", folder=tmp_path, environment={}, confinement=None, log_bytes=1))

    async def take_over() -> None:
        while True:
            try:
                _, handles, _, _ = socket.recv_fds(theirs, 1 << 16, 4)
            except BlockingIOError:
                await asyncio.sleep(0)
                continue
            for handle in handles:
                os.close(handle)
            return

    try:
        cancelled = forking()
        await take_over()
        cancelled.cancel()
        await asyncio.gather(cancelled, return_exceptions=True)
        assert open_descriptors() == before
        second = forking()
        await take_over()
        theirs.send(b'{"type":"forked","pid":111}')
        theirs.send(b'{"type":"forked","pid":222}')
        child = await second
        assert child.pid == 222
    finally:
        asyncio.get_running_loop().remove_reader(ours.fileno())
        ours.close()
        theirs.close()


# ------------------------------------------------------------ what a stranger can do


def test_a_folder_in_the_place_of_a_file_is_refused_and_leaves_no_descriptor(tmp_path: Path) -> None:
    before = open_descriptors()
    for _ in range(3):
        with pytest.raises(UntrustedFileError):
            read_untrusted(tmp_path, max_bytes=1 << 20)
    assert open_descriptors() == before


def test_a_folder_in_the_place_of_an_arena_does_not_end_the_run(tmp_path: Path) -> None:
    (tmp_path / "case.in").mkdir()
    (tmp_path / "case.out").write_bytes(b"")
    _unlink(tmp_path / "case.in", tmp_path / "case.out")
    assert not (tmp_path / "case.out").exists()


NESTED = b'{"type":"prepared","id":"x","arguments":[' + b'{"kind":"sequence","is_tuple":true,"items":[' * 20_000


@pytest.mark.parametrize(
    "line", [NESTED, b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b',"type":"done","id":"x"}'], ids=["value", "unknown"]
)
def test_a_reply_nested_beyond_measure_is_a_wire_error(line: bytes) -> None:
    with pytest.raises(WireError):
        wire.decode_reply(line)


def test_a_launch_with_numbers_that_no_database_holds_is_a_wire_error() -> None:
    plain = {
        "kernel": "k", "signature": {}, "constants": {}, "divisible_by_16": [], "num_warps": 10**30, "num_stages": 1,
        "grid": [1], "line": 1,
    }  # fmt: skip
    called = {"type": "called", "id": "i", "returned": [], "launches": [plain], "elapsed_s": 0.1}
    with pytest.raises(WireError):
        wire.decode_reply(json.dumps(called).encode())


def test_a_worker_cannot_blame_the_engine() -> None:
    claimed = wire.Failed(id="i", kind=wire.FailureKind.ENGINE, message="an error of yours")
    assert outcomes.of_failure(claimed).outcome is not Outcome.ENGINE_ERROR


def judged(tmp_path: Path, *, make_inputs: Callable[..., Any], signature: str) -> tuple[_Judge, wire.Prepared]:
    judge = _Judge()
    judge._problems["m:P"] = replace(PROBLEM, make_inputs=make_inputs, signature=signature, reference=lambda x, *_: x)
    reply = judge.carry_out(
        wire.Prepare(id="i", origin="m:P", case="empty", arena_path=str(tmp_path / "a"), poison=0, seed=1)
    )
    assert isinstance(reply, wire.Prepared), reply
    return judge, reply


@pytest.mark.parametrize("shape", [(0, 2**62, 4), (0, 2**64), (2**63, 0)])
def test_an_empty_shape_beyond_all_sizes_is_a_wrong_shape(tmp_path: Path, shape: tuple[int, ...]) -> None:
    judge, _ = judged(tmp_path, make_inputs=lambda case, rng: (torch.zeros(4),), signature="f(x: Tensor) -> Tensor")
    (tmp_path / "o").write_bytes(b"")
    claim = wire.ReturnedSpec(type_name="Tensor", dtype="float32", shape=shape)
    reply = judge.carry_out(wire.Compare(id="i", outputs=str(tmp_path / "o"), max_output_bytes=9, returned=(claim,)))
    assert isinstance(reply, wire.Compared), reply
    assert reply.reports[0].outcome is Outcome.WRONG_SHAPE


# ------------------------------------------------------------ the judge


def test_new_content_with_other_scalars_is_refused_since_the_worker_was_told_the_old_ones(tmp_path: Path) -> None:
    def drawn(case: Case, rng: torch.Generator) -> tuple[torch.Tensor, int]:
        return torch.zeros(4), int(torch.randint(1 << 30, (), generator=rng))

    judge, _ = judged(tmp_path, make_inputs=drawn, signature="f(x: Tensor, n: int) -> Tensor")
    reply = judge.carry_out(wire.Refill(id="i", fresh=True, poison=0))
    assert isinstance(reply, wire.Failed)
    assert reply.kind is wire.FailureKind.ENGINE


F64 = torch.float64


def report(got: torch.Tensor, expected: torch.Tensor, *, poison: int = 0x7B) -> OutputReport:
    return compare("return", got, expected, EXACT, poison=poison)


def test_one_wrong_value_beside_a_huge_one_is_wrong() -> None:
    got, expected = torch.tensor([1e200, 2.0], dtype=F64), torch.tensor([1e200, 1.0], dtype=F64)
    assert report(got, expected).outcome is Outcome.WRONG_VALUE
    loose = Tolerance(relative=0.0, absolute=1e-6)
    assert compare("return", 2 * got, expected, loose, poison=0).outcome is Outcome.WRONG_VALUE


@pytest.mark.parametrize("poison", [0x7B, 0xFF])
def test_a_boolean_that_was_never_written_is_wrong_where_true_is_expected(poison: int) -> None:
    unwritten = torch.full((4,), poison, dtype=torch.uint8).view(torch.bool)
    wrong = report(unwritten, torch.ones(4, dtype=torch.bool), poison=poison)
    assert wrong.outcome is Outcome.WRONG_VALUE
    assert wrong.message.endswith("; 4 of them were never written")


@pytest.mark.parametrize("steps", [1, 3])
def test_ulps_are_counted_in_float64_too(steps: int) -> None:
    got = expected = torch.tensor([1.0], dtype=F64)
    for _ in range(steps):
        got = torch.nextafter(got, torch.tensor([math.inf], dtype=F64))
    assert report(got, expected).max_ulp_error == steps


@pytest.mark.parametrize("dtype", [torch.int64, torch.float32], ids=str)
def test_the_worst_of_exact_values_is_the_one_furthest_away(dtype: torch.dtype) -> None:
    got, expected = torch.tensor([5, 0, 100], dtype=dtype), torch.zeros(3, dtype=dtype)
    assert report(got, expected).worst == WrongElement(index=(2,), expected="0", got="100")


def test_the_error_of_large_integers_is_their_difference() -> None:
    assert report(torch.tensor([2**60 + 1]), torch.tensor([2**60])).max_absolute_error == 1.0


@pytest.mark.parametrize(("share", "mark"), [(89, "9"), (90, "9"), (91, "9")])
def test_nine_tenths_are_a_nine(share: int, mark: str) -> None:
    wrong = torch.zeros(48 * 100, dtype=torch.bool)
    wrong[:share] = True
    assert error_map(wrong)[0][0] == mark


def test_a_relative_error_beyond_all_numbers_stays_a_number() -> None:
    # JSON has no infinity: what is infinite here arrives as "not measured" in the parent.
    error = report(torch.tensor([1.0], dtype=F64), torch.tensor([5e-324], dtype=F64)).max_relative_error
    assert error is not None
    assert math.isfinite(error)


def test_a_complex_output_is_reported_in_its_own_shape_and_type() -> None:
    wrong = report(torch.tensor([1 + 1j, 2]), torch.tensor([1 + 0j, 2]))
    assert (wrong.shape, wrong.dtype, wrong.total, wrong.mismatched) == ((2,), "complex64", 2, 1)


# ------------------------------------------------------------ events


@pytest.mark.parametrize("line", ['{"event": []}', '{"event": {}}', b'{"event":"\xff"}', '{"event": ' + "[" * 100_000])
def test_a_damaged_line_is_always_a_value_error_of_ours(line: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"^not a run event: "):
        events.from_json(line)


def test_a_lone_surrogate_is_written_as_its_escape() -> None:
    # A file name that is not UTF-8 has them, and file names stand in messages.
    event = events.LogWritten(at_s=0.0, stream=Stream.STDOUT, text="k\udcff.py")
    assert events.from_json(events.to_json(event)) == replace(event, text="k\\udcff.py")


# ------------------------------------------------------------ the candidate's text


def read(content: bytes) -> None:
    read_source(Candidate(source=content, problem="p"), "softmax")


@pytest.mark.parametrize("coding", ["utf-7", "latin-1", "rot13"])
def test_a_file_that_declares_another_encoding_is_refused(coding: str) -> None:
    # Python would run it in that encoding, and the static checks would have read another text.
    with pytest.raises(SourceError, match="UTF-8"):
        read(f"# -*- coding: {coding} -*-\ndef softmax(x): ...\n".encode())


@pytest.mark.parametrize("text", ["softmax: object = print", "softmax, other = print, print", "[softmax] = [print]"])
def test_an_entry_may_be_annotated_or_unpacked(text: str) -> None:
    read(text.encode())


def test_parsing_warns_nobody() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read(b"def softmax(x):\n    return '\\d'\n")
    assert [str(warning.message) for warning in caught] == []


@pytest.mark.parametrize(
    "source",
    [
        "from __future__ import annotations\nimport torch\ndef add(a, b):\n    return a + b\n",
        "from collections.abc import Callable\ndef add(a, b):\n    return a + b\n",
        "import torch\n@torch.jit.script\ndef add(a, b):\n    return a + b\n",
    ],
)
def test_no_kernel_is_seen_behind_the_standard_library_and_torch(source: str) -> None:
    assert [finding.check for finding in checks.read_statically(ast.parse(source))] == ["no_kernel"]


# ------------------------------------------------------------ the worker


def raised(error: BaseException) -> wire.Failed:
    try:
        raise error
    except BaseException as caught:
        return failure("i", caught, "/kernel.py")


def test_an_exit_with_a_long_message_fits_on_a_line() -> None:
    assert len(wire.encode(raised(SystemExit("x" * (5 << 20))))) < wire.MAX_LINE_BYTES


def test_words_that_are_no_text_can_be_told() -> None:
    assert wire.decode_reply(wire.encode(raised(ValueError("\ud800")))).id == "i"


def test_an_exception_that_cannot_be_shown_is_told_by_its_type() -> None:
    class SilentError(Exception):
        def __str__(self) -> str:
            raise KeyError("no words")

    assert raised(SilentError()).message == "SilentError"


LOAD = """
import json, sys
from pathlib import Path
from engine.worker.loader import load
entry, _ = load(Path(sys.argv[1]), None, "entry")
sys.__stdout__.write(json.dumps(entry()))
"""


@pytest.mark.parametrize(
    ("name", "source", "value"),
    [
        ("kernel.txt", "def entry():\n    return 1\n", 1),
        ("kernel", "def entry():\n    return 1\n", 1),
    ],
)
def test_a_candidate_may_have_any_name(tmp_path: Path, name: str, source: str, value: object) -> None:
    (tmp_path / name).write_text(source)
    done = subprocess.run(
        [sys.executable, "-I", "-c", LOAD, str(tmp_path / name)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == value


# ------------------------------------------------------------ the compiler


@triton.jit
def kernel(x, kind):
    return x


def test_a_constant_that_triton_does_not_name_is_not_captured() -> None:
    launch = replace(LAUNCH, signature={"x": "*fp32", "kind": "constexpr"}, constants={"kind": "tl.no_such_type"})
    with pytest.raises(UnsupportedError):
        specialise(kernel, launch, lambda name: None)


FIND = """
import sys
from pathlib import Path
from engine import wire
from engine.compiler.main import _Compiler
compiler = _Compiler()
compiler.carry_out(wire.Load(id="i", path=sys.argv[1], folder=None, entry="entry"))
print([compiler._find("k", line).fn(None) for line in (6, 11)])
"""
TWO = "import triton\ndef one():\n    pass\n    \n    @triton.jit\n    def k(x):\n        return 1\n    return k\n" + (
    "def two():\n    @triton.jit\n    def k(x):\n        return 2\n    return k\nentry = one(), two()\n"
    "def entry(): ...\n"
)


def test_of_two_kernels_of_one_name_the_one_that_was_launched_is_compiled(tmp_path: Path) -> None:
    # The interpreter records the line of the `def`; Python counts a decorated function from its decorator.
    (tmp_path / "kernel.py").write_text(TWO)
    done = subprocess.run(
        [sys.executable, "-c", FIND, str(tmp_path / "kernel.py")], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ("[1, 2]\n", 0), done.stderr


# ------------------------------------------------------------ records


def test_a_signature_that_is_no_python_is_refused_with_its_origin() -> None:
    with pytest.raises(ValueError, match=r"^m:P: .*softmax\(x"):
        replace(PROBLEM, signature="softmax(x: Tensor")


@pytest.mark.parametrize(("line", "column"), [(0, None), (1, 0), (-1, 1)])
def test_a_place_before_the_first_is_refused(line: int, column: int | None) -> None:
    with pytest.raises(ValueError, match="count from one"):
        Location(line=line, column=column)
