"""Examples of every message: one command or reply of each kind."""

from __future__ import annotations

from typing import Any

from engine import protocol
from engine.model import CacheState, Launch, Location, ObjectKind, Outcome, OutOfBounds, OutputReport, ProblemId
from engine.model.native import NativeLanguage
from engine.model.problems.health import Defect, Weakness
from engine.protocol.compiling import KeyedLaunch, WarmUp
from engine.protocol.messages import ObjectSpec
from engine.protocol.proof.binaries import MapLayout
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
    protocol.MappingSpec(keys=("eps",), items=(protocol.FloatSpec(hex="0x1p-20"),)),
    ObjectSpec(name="Config", of_kind=ObjectKind.NAMED_TUPLE, keys=("n",), items=(protocol.ScalarSpec(value=3),)),
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


OPTIONS = protocol.CompileOptions(num_warps=4, num_stages=3, others=(("maxnreg", "64"),))
BINARY = protocol.KernelBinary(
    name="k",
    code=b"\x7fELF",
    threads=128,
    shared_bytes=0,
    scratch_bytes=0,
    parameters=(128, 8, 8),
    maps=(MapLayout(swizzle=3, element_type=7, element_bytes=4, block=(4, 8)),),
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
        id="i",
        outputs="/o",
        max_output_bytes=9,
        returned=(RETURNED,),
        next_content=protocol.NextContent(fresh=True, poison=123),
    ),
    protocol.CompareSnapshot(id="i", taken="j", ends=True),
    protocol.Release(id="i"),
    protocol.AttachReference(id="i", problem=ProblemId(source="s", name="p"), folder="/room", pid=7),
    protocol.AuditProblem(id="i", problem=ProblemId(source="s", name="p"), folder="/room", pid=7),
    protocol.ShareMemory(id="i"),
    protocol.OpenMemory(id="i", handle="0f" * 64, block_bytes=1 << 26),
    protocol.Compile(id="i", launch=LAUNCH, target="sm_90", folder="/f", specialisation='{"name": "k"}'),
    protocol.BuildLauncher(id="i", types=("*fp32", "i32"), target="sm_90"),
    protocol.DescribeCompiled(id="i", compiled="j", folder="/f"),
    WarmUp(id="i", target="sm_90"),
    protocol.Disassemble(id="i", folder="/f", cubin="x.cubin"),
    protocol.Arrange(id="i", problem=ProblemId(source="m", name="P"), case="c", most_slots=5, most_bytes=1 << 30),
    protocol.Refresh(id="i", slots=(0, 2)),
    protocol.Check(id="i", slots=(0, 2), returned=((RETURNED,), ())),
    protocol.PrepareBaseline(id="i", name="eager"),
    protocol.TimeBaseline(id="i", name="eager", slots=(1,), mode=protocol.CallMode.REPLAY, cache=CacheState.WARM),
    protocol.MeasurePeaks(id="i"),
    protocol.FreeSlots(id="i"),
    protocol.Fetch(id="i", slots=(0, 2), cache=CacheState.COLD),
    protocol.OpenSlots(id="i", case="c", arguments=VALUES, layout=SLOTS),
    protocol.TimeCalls(id="i", slots=(1, 0), mode=protocol.CallMode.SINGLE, cache=CacheState.WARM),
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
    protocol.CompareReading(id="i", outputs="/o", max_output_bytes=9, returned=(RETURNED,), keep=True),
    protocol.MeasurePrecision(id="i", outputs="/o", max_output_bytes=9, returned=(RETURNED,)),
    protocol.LayOutVariant(id="i", variant=protocol.Variant.MOVED, poison=123, arena_path="/a"),
    protocol.PrepareVariant(id="i", variant=protocol.Variant.TINY, place=1),
    protocol.Lower(id="i", launch=LAUNCH, target="sm_90"),
    protocol.LimitReading(id="i", readable=("/shared",)),
    protocol.DropKernels(id="i"),
    protocol.HoldKernel(id="i", name="ab", ttir="module {}", arguments=("x",)),
    protocol.BuildBinary(
        id="i",
        request=protocol.BinaryRequest(kernel="k", ttir="module {}", options=OPTIONS, target="sm_90"),
        memory_bytes=1 << 30,
        readable=("/tmp/own",),
    ),
    protocol.HoldBinary(id="i", kernel="ab", options=OPTIONS, binary=BINARY),
    protocol.ReplayTape(
        id="i", tape=TAPE, kernels=("ab",), arena=ARENA, outputs="/o", max_output_bytes=1, most_bytes=2, without=(0,)
    ),
    protocol.CheckMemory(id="i", tape=TAPE, kernels=("ab",), arena=ARENA, most_bytes=2, warp_threads=32, without=(0,)),
    protocol.Sanitize(
        id="i",
        sanitizer="/compute-sanitizer",
        tools=("memcheck",),
        load=protocol.Load(id="i", path="/k.py", folder=None, entry="f", modules="/modules"),
        call=protocol.Call(id="i", case="c", arguments=(), arena=ARENA, outputs="/o", max_output_bytes=1, poison=0),
        writable=("/tmp/a",),
        most_bytes=100,
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
    protocol.BinaryBuilt(id="i", binary=BINARY),
    protocol.Sanitized(
        id="i", runs=(protocol.SanitizedRun(tool="memcheck", report="========= 0", left_out_bytes=0, status=-9),)
    ),
    protocol.TapeReplayed(id="i", returned=(RETURNED,), moved_bytes=8, foreign=(0, 3), by_kernels=True),
    protocol.MemoryChecked(id="i", stopped="k: out of bounds"),
    protocol.CorrectCounted(id="i", outputs=(protocol.CorrectCount(name="return", total=4, right=3, trivial=1),)),
    protocol.OutputsRepeated(id="i", returned=(RETURNED,)),
    protocol.ReadingCompared(id="i", outputs=(protocol.Difference(name="return", total=4, right=3, changed=None),)),
    protocol.PrecisionMeasured(
        id="i",
        outputs=(protocol.OutputPrecision(name="return", precision="tf32", got=1e-6, honest=1e-7, lowered=1e-4),),
    ),
    protocol.VariantLaidOut(id="i", arena=ARENA, dismissed="not finite", changed="x[3] 1 became 2", kept=("table",)),
    protocol.Compared(id="i", reports=(), repeated=None, mutated=None),
    protocol.Compared(id="i", reports=(REPORT,), repeated=False, mutated="input x was changed"),
    protocol.Released(id="i", seed=2**62 - 1),
    protocol.ReferenceAttached(id="i", notes=("tolerance 1e-6",), left_out=("row 4",)),
    protocol.Audited(id="i", weaknesses=(Weakness(defect=Defect.CONSTANT, text="t"),)),
    protocol.MemoryShared(id="i", handle="0f" * 64, block_bytes=1 << 26),
    protocol.DryRunDone(id="i", launches=(protocol.SuppressedLaunch(launch=LAUNCH, specialisation='{"name": "k"}'),)),
    protocol.DryRunDone(id="i", keyed=(KeyedLaunch(key="0f" * 32, state="f0" * 32, launch=LAUNCH),)),
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
        unchecked=("the changed state: TypeError",),
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


CALLED: dict[str, Any] = {"type": "called", "id": "i", "returned": [], "launches": [], "elapsed_s": 0.1}
