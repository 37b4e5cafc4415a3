"""A line is the reply that was asked for, to the letter, or a WireError."""

from __future__ import annotations

import json
from typing import Any, get_args

import msgspec
import pytest

from engine import protocol
from engine.errors import WireError
from engine.model import CacheState, Launch, Location, Outcome, OutOfBounds, OutputReport, ProblemId
from engine.model.native import NativeLanguage
from engine.model.problems.health import Defect, Weakness
from engine.protocol.proof.tape import (
    Filled,
    Given,
    HostRead,
    Launched,
    Moved,
    Tape,
    TapedArgument,
    TapedDescriptor,
    TapedNumber,
    TapedStorage,
    TapedView,
)

LAUNCH = Launch(
    kernel="k",
    signature={"x": "*fp32"},
    constants={"b": "1"},
    divisible_by_16=("x",),
    num_warps=4,
    num_stages=3,
    grid=(1, 2),
    line=3,
    options={"maxnreg": "64"},
)
BOUNDS = OutOfBounds(
    access="store", kernel="k", tensor="x", index=-2, elements=3, program=(0, 1, 2), location=Location(line=4)
)
ARENA = protocol.ArenaSpec(path="/a", storages=(protocol.StorageSpec(offset=0, bytes=8),), bytes=512)
VALUES = (
    protocol.TensorSpec(storage=0, dtype="float32", shape=(2, 1), strides=(1, 0), first=0),
    protocol.ScalarSpec(value=True),
    protocol.ScalarSpec(value=-(2**63)),
    protocol.ScalarSpec(value="[x]"),
    protocol.ScalarSpec(value=None),
    protocol.FloatSpec(hex="nan"),
    protocol.ComplexSpec(real="0x1.8p+1", imaginary="-inf"),
    protocol.DTypeSpec(name="bfloat16"),
    protocol.SequenceSpec(
        items=(protocol.FloatSpec(hex="-inf"), protocol.SequenceSpec(items=(), is_tuple=False)), is_tuple=True
    ),
)
RETURNED = protocol.ReturnedSpec(type_name="Tensor", dtype="float32", shape=(2,), offset=0, bytes=8)
DEVICE_ARENA = protocol.ArenaSpec(
    handle="0f" * 64,
    block_bytes=1 << 26,
    storages=ARENA.storages,
    bytes=1024,
    outputs=protocol.StorageSpec(offset=512, bytes=8),
)
SLOTS = protocol.SlotLayout(
    handle="0f" * 64,
    bytes=1 << 26,
    first=256,
    stride=1024,
    slots=3,
    storages=ARENA.storages,
    outputs=protocol.StorageSpec(offset=512, bytes=8),
)
REPORT = OutputReport(name="return", outcome=Outcome.WRONG_VALUE, message="m", shape=(2,), dtype="float32")
WITHHELD = protocol.Withheld(kernel=protocol.Kernel(name="k", line=2), launches=2, withheld=1)
RAN = protocol.ActivitySeen(kind=protocol.ActivityKind.KERNEL, name="k", own=True, launches=2, device_ns=9)
VIEW = TapedView(storage=1, dtype="float32", offset_bytes=4, shape=(2, 3), strides=(3, 1))
TAPE = Tape(
    storages=(TapedStorage(bytes=64, argument=0), TapedStorage(bytes=64)),
    specialisations=(LAUNCH,),
    steps=(
        Given(storage=1, reads=(0,), operator="aten::mm", line=3, data=b"\0\xff"),
        Filled(target=VIEW, element=b"\0\0\x80\x3f"),
        Moved(target=VIEW, source=VIEW),
        Launched(
            specialisation=0,
            grid=(4, 1, 1),
            line=7,
            arguments=(
                TapedArgument(name="x", value=VIEW),
                TapedArgument(name="n", value=TapedNumber(value=-1)),
                TapedArgument(name="eps", value=protocol.FloatSpec(hex="0x1p-20")),
                TapedArgument(name="d", value=TapedDescriptor(base=VIEW, shape=(2,), strides=(1,))),
            ),
        ),
    ),
    returned=(VIEW, None),
    reads=(HostRead(operator="Tensor.item", line=5),),
)
EXTENSION = protocol.ExtensionRequest(
    name="mine",
    sources=(protocol.NativeSource(label="cuda_sources[0]", language=NativeLanguage.CUDA, text="int i;"),),
    functions={"go": "Go."},
    with_cuda=True,
    cuda_flags=("-O3",),
)
COMMANDS: tuple[protocol.AnyCommand, ...] = (
    protocol.Load(
        id="i",
        path="/k.py",
        folder=None,
        entry="f",
        cache_folders=("/launchers", "/kernels"),
        extensions=protocol.ExtensionAccess(folder="/extensions", no_cuda="no nvcc"),
    ),
    protocol.BuildExtension(id="i", request=EXTENSION, target="sm_90", folder="/f", nvcc="/nvcc", cxx="/c++"),
    protocol.Call(id="i", case="c", arguments=VALUES, arena=ARENA, outputs="/o", max_output_bytes=1, poison=255),
    protocol.Prepare(id="i", problem=ProblemId(source="m", name="P"), case="c", arena_path="/a", poison=0, seed=2**62),
    protocol.Describe(id="i", problem=ProblemId(source="m", name="P"), cases=("c", "d")),
    protocol.RunDry(id="i", case="c", arguments=VALUES, storages=(8, 0)),
    protocol.Refill(id="i", fresh=True, poison=123),
    protocol.Compare(id="i", outputs="/o", max_output_bytes=9, returned=(RETURNED,)),
    protocol.TakeSnapshot(
        id="i", outputs="/o", max_output_bytes=9, returned=(RETURNED,), again=protocol.Again(fresh=True, poison=123)
    ),
    protocol.CompareSnapshot(id="i", taken="j", ends=True),
    protocol.Release(id="i"),
    protocol.AttachReference(id="i", problem=ProblemId(source="s", name="p"), folder="/room", pid=7),
    protocol.AuditProblem(id="i", problem=ProblemId(source="s", name="p"), folder="/room", pid=7),
    protocol.ShareMemory(id="i"),
    protocol.OpenMemory(id="i", handle="0f" * 64, block_bytes=1 << 26),
    protocol.Compile(id="i", launch=LAUNCH, target="sm_90", folder="/f", specialisation='{"name": "k"}'),
    protocol.BuildLauncher(id="i", types=("*fp32", "i32"), target="sm_90"),
    protocol.Disassemble(id="i", folder="/f", cubin="x.cubin"),
    protocol.Arrange(id="i", problem=ProblemId(source="m", name="P"), case="c", most_slots=5, most_bytes=1 << 30),
    protocol.Refresh(id="i", slots=(0, 2)),
    protocol.Check(id="i", slots=(0, 2), returned=((RETURNED,), ())),
    protocol.PrepareBaseline(id="i", name="eager"),
    protocol.TimeBaseline(id="i", name="eager", slots=(1,), how=protocol.How.REPLAY, cache=CacheState.WARM),
    protocol.MeasurePeaks(id="i"),
    protocol.FreeSlots(id="i"),
    protocol.Fetch(id="i", slots=(0, 2), cache=CacheState.COLD),
    protocol.OpenSlots(id="i", case="c", arguments=VALUES, layout=SLOTS),
    protocol.TimeCalls(id="i", slots=(1, 0), how=protocol.How.SINGLE, cache=CacheState.WARM),
    protocol.Collect(id="i"),
    protocol.CloseSlots(id="i"),
    protocol.Observe(id="i"),
    protocol.CountCorrect(id="i", outputs="/o", max_output_bytes=9, returned=(RETURNED,)),
    protocol.Record(
        id="i", arguments=(), arena=protocol.ArenaSpec(storages=(), bytes=9), outputs="/o", max_output_bytes=9
    ),
    protocol.Call(
        id="i",
        case="c",
        arguments=VALUES,
        arena=ARENA,
        outputs="/o",
        max_output_bytes=1,
        poison=255,
        program_order=protocol.ProgramOrder(seed=3),
        watch=protocol.Watch(positions=(0, 2)),
    ),
    protocol.RepeatOutputs(id="i", pause_s=0.1),
    protocol.Contrast(id="i", outputs="/o", max_output_bytes=9, returned=(RETURNED,), keep=True),
    protocol.MeasurePrecision(id="i", outputs="/o", max_output_bytes=9, returned=(RETURNED,)),
    protocol.LayOutVariant(id="i", variant=protocol.Variant.MOVED, poison=123, arena_path="/a"),
    protocol.PrepareVariant(id="i", variant=protocol.Variant.TINY, apart=True),
    protocol.Lower(id="i", launch=LAUNCH, target="sm_90"),
    protocol.LimitReading(id="i", readable=("/shared",)),
    protocol.HoldKernel(id="i", name="ab", ttir="module {}", arguments=("x",)),
    protocol.ReplayTape(
        id="i", tape=TAPE, kernels=("ab",), arena=ARENA, outputs="/o", max_output_bytes=1, most_bytes=2, without=(0,)
    ),
    protocol.TapeSlot(id="i", case="6 f32", slot=0, tape="/t"),
    protocol.TimeTape(id="i", tape=TAPE, kernels=("ab",), arguments=VALUES, sizes=(8,), most_bytes=2),
)
REPLIES: tuple[protocol.AnyReply, ...] = (
    protocol.Ready(id="ready", confinement=("seccomp",), versions={"torch": "2"}),
    protocol.Done(id="i"),
    protocol.Loaded(id="i", siblings=("/f/h.py",)),
    protocol.Prepared(id="i", arguments=VALUES, arena=ARENA, elapsed_s=0.5),
    protocol.Prepared(id="i", arguments=VALUES, arena=DEVICE_ARENA, elapsed_s=0.5),
    protocol.Described(id="i", shapes=(protocol.Shape(arguments=VALUES, storages=(8, 0)),)),
    protocol.Called(id="i", returned=(RETURNED,), launches=(LAUNCH,), elapsed_s=0.5, ledger=(WITHHELD,)),
    protocol.Recorded(
        id="i",
        returned=(RETURNED,),
        activities=(RAN,),
        streams=1,
        late=("k",),
        nodes=(protocol.NodeSeen(name="k", own=True),),
    ),
    protocol.Lowered(id="i", ttir="module {}", arguments=("x", "sizes.2")),
    protocol.TapeReplayed(id="i", returned=(RETURNED,), moved_bytes=8, foreign=(0, 3), by_kernels=True),
    protocol.CorrectCounted(id="i", outputs=(protocol.CorrectCount(name="return", total=4, right=3, trivial=1),)),
    protocol.OutputsRepeated(id="i", returned=(RETURNED,)),
    protocol.Contrasted(id="i", outputs=(protocol.Difference(name="return", total=4, right=3, changed=None),)),
    protocol.PrecisionMeasured(
        id="i",
        outputs=(protocol.OutputPrecision(name="return", precision="tf32", got=1e-6, honest=1e-7, lowered=1e-4),),
    ),
    protocol.VariantLaidOut(id="i", arena=ARENA, dismissed="not finite", changed="x[3] 1 became 2", kept=("table",)),
    protocol.Compared(id="i", reports=(), repeated=None, mutated=None),
    protocol.Compared(id="i", reports=(REPORT,), repeated=False, mutated="input x was changed"),
    protocol.Released(id="i", seed=2**62 - 1),
    protocol.ReferenceAttached(id="i", notes=("tolerance 1e-6",)),
    protocol.Audited(id="i", weaknesses=(Weakness(defect=Defect.CONSTANT, text="t"),)),
    protocol.MemoryShared(id="i", handle="0f" * 64, block_bytes=1 << 26),
    protocol.RanDry(id="i", launches=(protocol.SuppressedLaunch(launch=LAUNCH, specialisation='{"name": "k"}'),)),
    protocol.Compiled(
        id="i", stages={"ptx": "x.ptx"}, registers=1, spill_bytes=0, shared_bytes=3, cache=("KEY/k.cubin",)
    ),
    protocol.Arranged(id="i", arguments=VALUES, layouts=(SLOTS,), slot_bytes=768, l2_bytes=50 << 20),
    protocol.Checked(id="i", right=1, first_wrong=1, reports=(REPORT,), trouble="memory past the end of x was written"),
    protocol.Timed(
        id="i",
        calls=(protocol.CallTime(span_ns=5000, stream_ns=None, activities=2),),
        returned=((RETURNED,),),
        kernels=(protocol.KernelTime(name="k", device_ns=7, count=2),),
        late=("other",),
        method="cupti",
        reason="",
        elapsed_ns=7,
        shared_outputs=True,
        notes=("not compiled",),
    ),
    protocol.Observed(
        id="i",
        operators=(
            protocol.OperatorSeen(
                name="aten::mm", kind=protocol.OperatorKind.COMPUTE, case="c", reads_inputs=True, uses=2
            ),
        ),
        actions=(
            protocol.ActionSeen(
                kind=protocol.ActionKind.SOCKET, detail="socket.connect", line=3, loading=True, times=2
            ),
        ),
        changes=(protocol.ChangeSeen(kind=protocol.ChangeKind.FUNCTION, name="torch.allclose", detail="<lambda>"),),
        unchecked=("what has changed: TypeError",),
    ),
    protocol.PeaksMeasured(id="i", copy_bytes_per_s=3.3e12, flops_per_s={"float32": 5e13}),
    protocol.ExtensionBuilt(
        id="i", library="x.so", output="warning", kernels=(protocol.NativeKernel(symbol="_Z1kv", registers=8),)
    ),
    protocol.Failed(id="i", kind=protocol.FailureKind.EXTENSION, message="m", extension=EXTENSION),
    protocol.Failed(
        id="i",
        kind=protocol.FailureKind.OUT_OF_BOUNDS,
        message="m",
        line=3,
        trace="t",
        out_of_bounds=BOUNDS,
        launches=(LAUNCH,),
        broken=True,
    ),
)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda message: type(message).__name__)
def test_a_command_survives_its_line(command: protocol.AnyCommand) -> None:
    line = protocol.encode(command)
    assert (line.count(b"\n"), line[-1:]) == (1, b"\n")
    assert protocol.decode_command(line) == command


@pytest.mark.parametrize("reply", REPLIES, ids=lambda message: type(message).__name__)
def test_a_reply_survives_its_line(reply: protocol.AnyReply) -> None:
    line = protocol.encode(reply)
    assert line.count(b"\n") == 1
    assert protocol.decode_reply(line) == reply


def test_the_examples_are_of_every_kind() -> None:
    assert {type(command) for command in COMMANDS} == set(get_args(protocol.AnyCommand))
    assert {type(reply) for reply in REPLIES} == set(get_args(protocol.AnyReply))


def test_text_with_line_ends_stays_on_its_line() -> None:
    line = protocol.encode(protocol.Failed(id="i", kind=protocol.FailureKind.RAISED, message="a\nb\r\n\0"))
    assert line.count(b"\n") == 1
    assert protocol.decode_reply(line) == protocol.Failed(
        id="i", kind=protocol.FailureKind.RAISED, message="a\nb\r\n\0"
    )


CALLED: dict[str, Any] = {"type": "called", "id": "i", "returned": [], "launches": [], "elapsed_s": 0.1}


@pytest.mark.parametrize(
    "changes",
    [
        {"type": "call"}, {"type": "praised"}, {"type": None}, {"id": 3}, {"id": None}, {"verdict": "pass"},
        {"returned": None}, {"returned": [{}]}, {"returned": [{"type_name": "Tensor", "bytes": -1}]},
        {"returned": [{"type_name": "Tensor", "shape": [-1]}]}, {"returned": [{"type_name": "Tensor", "shape": [1.5]}]},
        {"returned": [{"type_name": "Tensor", "shape": "12"}]}, {"elapsed_s": "0.1"}, {"elapsed_s": None},
        {"launches": [{"kernel": "k"}]}, {"launches": {}},
    ],
)  # fmt: skip
def test_reply_differing_in_one_field_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(WireError, match=r"^not a reply: "):
        protocol.decode_reply(json.dumps({**CALLED, **changes}).encode())


@pytest.mark.parametrize("field", list(CALLED))
def test_reply_missing_one_field_is_refused(field: str) -> None:
    with pytest.raises(WireError):
        protocol.decode_reply(json.dumps({name: value for name, value in CALLED.items() if name != field}).encode())


@pytest.mark.parametrize(
    "line",
    [
        b"", b"\n", b"pass", b"null", b"[]", b'"done"', b"{}", b'{"type":"done","id":"i"', b'{"type":"done","id":"i"}}',
        b'{"type":"done","id":"i"}{"type":"done","id":"i"}', b"\x00", b"\xff\xfe", b'{"type":"done","id":"\xff"}',
        b'{"type":"done","id":"\\ud800"}', b'{"type":"called","id":"i","returned":[],"launches":[],"elapsed_s":1e999}',
        b'{"type":"called","id":"i","returned":[],"launches":[],"elapsed_s":NaN}', b"[" * 200_000,
        b'{"type":"failed","id":"i","kind":"perfect","message":""}',
    ],
)  # fmt: skip
def test_noise_is_a_wire_error_and_nothing_else(line: bytes) -> None:
    with pytest.raises(WireError):
        protocol.decode_reply(line)


NESTED = b'{"type":"prepared","id":"x","arguments":[' + b'{"kind":"sequence","is_tuple":true,"items":[' * 20_000


@pytest.mark.parametrize(
    "line", [NESTED, b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b',"type":"done","id":"x"}'], ids=["value", "unknown"]
)
def test_reply_nested_too_deeply_is_wire_error(line: bytes) -> None:
    with pytest.raises(WireError):
        protocol.decode_reply(line)


def test_launch_with_too_large_numbers_is_wire_error() -> None:
    plain = {
        "kernel": "k",
        "signature": {},
        "constants": {},
        "divisible_by_16": [],
        "num_warps": 10**30,
        "num_stages": 1,
        "grid": [1],
        "line": 1,
    }
    with pytest.raises(WireError):
        protocol.decode_reply(json.dumps({**CALLED, "launches": [plain]}).encode())


def test_command_and_reply_are_not_interchangeable() -> None:
    with pytest.raises(WireError):
        protocol.decode_reply(protocol.encode(COMMANDS[0]))
    with pytest.raises(WireError):
        protocol.decode_command(protocol.encode(REPLIES[1]))


HUGE = 2**63
LAUNCHED: dict[str, Any] = {
    "kernel": "k",
    "signature": {},
    "constants": {},
    "divisible_by_16": [],
    "num_warps": 4,
    "num_stages": 1,
    "grid": [1],
    "line": 1,
}
FAILED: dict[str, Any] = {"type": "failed", "id": "i", "kind": "raised", "message": "m"}
ACCESS: dict[str, Any] = {
    "access": "load",
    "kernel": "k",
    "tensor": "x",
    "index": 1,
    "elements": 1,
    "program": [0, 0, 0],
    "location": None,
}
COMPILED: dict[str, Any] = {"type": "compiled", "id": "i", "stages": {}}
TIMED: dict[str, Any] = {"type": "timed", "id": "i"}
OBSERVED: dict[str, Any] = {"type": "observed", "id": "i"}
OPERATOR: dict[str, Any] = {"name": "aten::mm", "kind": "compute"}
ACTION: dict[str, Any] = {"kind": "socket", "detail": "d"}
CHANGE: dict[str, Any] = {"kind": "function", "name": "n"}
CALL: dict[str, Any] = {"span_ns": 1, "stream_ns": 1, "activities": 1}


def many(count: int) -> dict[str, str]:
    return {str(number): "x" for number in range(count)}


def tensor(**fields: Any) -> dict[str, Any]:
    return {"returned": [{"type_name": "Tensor", **fields}]}


def launched(**fields: Any) -> dict[str, Any]:
    return {"launches": [{**LAUNCHED, **fields}]}


@pytest.mark.parametrize(
    ("reply", "most", "beyond"),
    [
        (CALLED, {"id": "i" * 64}, {"id": "i" * 65}),
        (CALLED, {"returned": [{"type_name": "int"}] * 64}, {"returned": [{"type_name": "int"}] * 65}),
        (CALLED, tensor(shape=[1] * 64), tensor(shape=[1] * 65)),
        (CALLED, tensor(shape=[HUGE - 1]), tensor(shape=[HUGE])),
        (CALLED, tensor(bytes=HUGE - 1), tensor(bytes=HUGE)),
        (CALLED, tensor(offset=HUGE - 1), tensor(offset=HUGE)),
        (CALLED, tensor(dtype="x" * 512), tensor(dtype="x" * 513)),
        (CALLED, tensor(type_name="x" * 512), tensor(type_name="x" * 513)),
        (CALLED, {"launches": [LAUNCHED] * 512}, {"launches": [LAUNCHED] * 513}),
        (CALLED, launched(count=HUGE - 1), launched(count=HUGE)),
        (CALLED, launched(num_stages=1 - HUGE), launched(num_stages=-HUGE - 1)),
        (CALLED, launched(grid=[HUGE - 1]), launched(grid=[10**30])),
        (CALLED, launched(grid=[1] * 16), launched(grid=[1] * 17)),
        (CALLED, launched(kernel="k" * 512), launched(kernel="k" * 513)),
        (CALLED, launched(signature=many(1024)), launched(signature=many(1025))),
        (CALLED, launched(signature={"x" * 512: ""}), launched(signature={"x" * 513: ""})),
        (CALLED, launched(constants={"x": "y" * (1 << 16)}), launched(constants={"x": "y" * ((1 << 16) + 1)})),
        (CALLED, launched(options=many(1024)), launched(options=many(1025))),
        (CALLED, launched(divisible_by_16=["x"] * 1024), launched(divisible_by_16=["x"] * 1025)),
        (CALLED, launched(divisible_by_16=["x" * 512]), launched(divisible_by_16=["x" * 513])),
        (FAILED, launched(line=HUGE - 1), launched(line=HUGE)),
        (FAILED, {"message": "x" * (1 << 16)}, {"message": "x" * ((1 << 16) + 1)}),
        (FAILED, {"trace": "x" * (1 << 16)}, {"trace": "x" * ((1 << 16) + 1)}),
        (FAILED, {"line": HUGE - 1}, {"line": HUGE}),
        (FAILED, {"out_of_bounds": {**ACCESS, "index": HUGE - 1}}, {"out_of_bounds": {**ACCESS, "index": HUGE}}),
        (FAILED, {"out_of_bounds": {**ACCESS, "elements": 1}}, {"out_of_bounds": {**ACCESS, "elements": HUGE}}),
        (FAILED, {"out_of_bounds": {**ACCESS, "program": [0, 0, 1]}},
         {"out_of_bounds": {**ACCESS, "program": [0, 0, HUGE]}}),
        (FAILED, {"out_of_bounds": {**ACCESS, "tensor": "x"}}, {"out_of_bounds": {**ACCESS, "tensor": "x" * 513}}),
        (FAILED, {"out_of_bounds": {**ACCESS, "location": {"line": HUGE - 1}}},
         {"out_of_bounds": {**ACCESS, "location": {"line": HUGE}}}),
        (COMPILED, {"stages": many(16)}, {"stages": many(17)}),
        (COMPILED, {"stages": {"x" * 512: "y"}}, {"stages": {"x" * 513: "y"}}),
        (COMPILED, {"stages": {"x": "y" * 4096}}, {"stages": {"x": "y" * 4097}}),
        (COMPILED, {"registers": HUGE - 1}, {"registers": HUGE}),
        (COMPILED, {"spill_bytes": 0}, {"spill_bytes": -1}),
        (COMPILED, {"shared_bytes": HUGE - 1}, {"shared_bytes": 10**30}),
        (COMPILED, {"cache": ["x"] * 1024}, {"cache": ["x"] * 1025}),
        (COMPILED, {"cache": ["x" * 4096]}, {"cache": ["x" * 4097]}),
        (TIMED, {"calls": [CALL] * 4096}, {"calls": [CALL] * 4097}),
        (TIMED, {"calls": [{**CALL, "span_ns": HUGE - 1}]}, {"calls": [{**CALL, "span_ns": HUGE}]}),
        (TIMED, {"returned": [[]] * 4096}, {"returned": [[]] * 4097}),
        (TIMED, {"returned": [[{"type_name": ""}] * 64]}, {"returned": [[{"type_name": ""}] * 65]}),
        (TIMED, {"kernels": [{"name": "k"}] * 256}, {"kernels": [{"name": "k"}] * 257}),
        (TIMED, {"late": ["k"] * 256}, {"late": ["k"] * 257}),
        (TIMED, {"late": ["k" * 512]}, {"late": ["k" * 513]}),
        (TIMED, {"late": ["k"] * 256}, {"late": ["k"] * 257}),
        (TIMED, {"notes": ["x"] * 64}, {"notes": ["x"] * 65}),
        (TIMED, {"notes": ["x"]}, {"notes": ["x" * ((1 << 16) + 1)]}),
        (TIMED, {"method": "x" * 512}, {"method": "x" * 513}),
        (TIMED, {"reason": "x" * (1 << 16)}, {"reason": "x" * ((1 << 16) + 1)}),
        (TIMED, {"elapsed_ns": HUGE - 1}, {"elapsed_ns": HUGE}),
        (OBSERVED, {"operators": [OPERATOR] * 1024}, {"operators": [OPERATOR] * 1025}),
        (OBSERVED, {"operators": [{**OPERATOR, "uses": HUGE - 1}]}, {"operators": [{**OPERATOR, "uses": HUGE}]}),
        (OBSERVED, {"operators": [{**OPERATOR, "name": "x" * 512}]}, {"operators": [{**OPERATOR, "name": "x" * 513}]}),
        (OBSERVED, {"operators": [OPERATOR]}, {"operators": [{**OPERATOR, "kind": "harmless"}]}),
        (OBSERVED, {"actions": [ACTION] * 256}, {"actions": [ACTION] * 257}),
        (OBSERVED, {"actions": [{**ACTION, "line": 1}]}, {"actions": [{**ACTION, "line": 0}]}),
        (OBSERVED, {"actions": [{**ACTION, "detail": "x" * 512}]}, {"actions": [{**ACTION, "detail": "x" * 513}]}),
        (OBSERVED, {"changes": [CHANGE] * 256}, {"changes": [CHANGE] * 257}),
        (OBSERVED, {"changes": [{**CHANGE, "detail": ""}]}, {"changes": [{**CHANGE, "detail": "x" * 513}]}),
        (OBSERVED, {"unchecked": ["x"] * 16}, {"unchecked": ["x"] * 17}),
        ({"type": "loaded", "id": "i"}, {"siblings": ["x"] * 1024}, {"siblings": ["x"] * 1025}),
        ({"type": "loaded", "id": "i"}, {"siblings": ["x" * 4096]}, {"siblings": ["x" * 4097]}),
        ({"type": "ready", "id": "i"}, {"confinement": ["x"] * 64}, {"confinement": ["x"] * 65}),
        ({"type": "ready", "id": "i"}, {"versions": many(64)}, {"versions": many(65)}),
        ({"type": "ran_dry", "id": "i"}, {"launches": [{"launch": LAUNCHED, "specialisation": "x"}] * 512},
         {"launches": [{"launch": LAUNCHED, "specialisation": "x"}] * 513}),
        ({"type": "ran_dry", "id": "i"}, {"launches": [{"launch": LAUNCHED, "specialisation": "x"}]},
         {"launches": [{"launch": LAUNCHED, "specialisation": "x" * ((1 << 16) + 1)}]}),
        ({"type": "ran_dry", "id": "i"}, {"launches": [{"launch": LAUNCHED, "specialisation": "x"}]},
         {"launches": [{"launch": {**LAUNCHED, "num_warps": HUGE}, "specialisation": "x"}]}),
    ],
)  # fmt: skip
def test_every_worker_reply_field_is_bounded(
    reply: dict[str, Any], most: dict[str, Any], beyond: dict[str, Any]
) -> None:
    protocol.decode_reply(json.dumps({**reply, **most}).encode())
    with pytest.raises(WireError, match=r"^not a reply: "):
        protocol.decode_reply(json.dumps({**reply, **beyond}).encode())


JUDGES = (
    protocol.Prepared,
    protocol.Described,
    protocol.Compared,
    protocol.Released,
    protocol.Arranged,
    protocol.Checked,
    protocol.PeaksMeasured,
    protocol.MemoryShared,
    protocol.VariantLaidOut,
    protocol.Audited,
)


@pytest.mark.parametrize("kind", [kind for kind in get_args(protocol.AnyReply) if kind not in JUDGES])
def test_every_text_number_and_list_is_bounded(kind: type[protocol.Reply]) -> None:
    assert unbounded(msgspec.inspect.type_info(kind)) == set()


def unbounded(kind: Any, place: str = "") -> set[str]:  # Any: msgspec's own types
    """Where a type has no end; the engine's own records, which are bounded by hand, are passed over."""
    inspect = msgspec.inspect
    inner = [(part, place) for part in getattr(kind, "types", ())]
    if isinstance(kind, inspect.StructType):
        inner = [(field.type, f"{place}.{field.name}") for field in kind.fields]
    for name in ("item_type", "key_type", "value_type"):
        inner += [(getattr(kind, name), f"{place}[]")] if hasattr(kind, name) else []
    endless = isinstance(kind, inspect.IntType) and None in (kind.le, kind.ge)
    if isinstance(kind, inspect.StrType | inspect.VarTupleType | inspect.DictType):
        endless = kind.max_length is None
    return ({place} if endless else set()).union(*(unbounded(part, there) for part, there in inner))


def test_id_of_invalid_command_is_found() -> None:
    assert protocol.id_of(b'{"type":"praise","id":"a","x":[{}]}\n') == "a"
    assert [protocol.id_of(line) for line in (b"", b"noise", b"[]", b'{"id":3}', b'{"id":"\xff"}')] == [""] * 5


@pytest.mark.parametrize("poison", [-1, 256])
def test_poison_is_one_byte(poison: int) -> None:
    line = protocol.encode(protocol.Refill(id="i", fresh=False, poison=poison))
    with pytest.raises(WireError):
        protocol.decode_command(line)


def test_messages_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        REPLIES[1].id = "other"  # type: ignore[misc]  # that it cannot be assigned is the point


def test_ids_are_128_random_bits() -> None:
    ids = {protocol.new_id() for _ in range(100)}
    assert len(ids) == 100
    assert {len(bytes.fromhex(identifier)) for identifier in ids} == {16}


def test_equal_messages_have_equal_lines() -> None:
    assert protocol.encode(msgspec.structs.replace(REPLIES[1], id="j")) == protocol.encode(protocol.Done(id="j"))
