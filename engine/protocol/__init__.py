"""Messages between parent and children: one JSON object a line, strictly typed; nothing is unpickled.

Each reply carries the random id of its command.  A line that does not match its type is an error of its sender.
"""

from __future__ import annotations

import secrets
from typing import TypeAlias

import msgspec

from engine.errors import WireError
from engine.protocol.compiling import (
    BuildLauncher,
    Compile,
    Compiled,
    DescribeCompiled,
    Disassemble,
    DryRunDone,
    RunDry,
    SuppressedLaunch,
    WarmUp,
)
from engine.protocol.device_trace import (
    MOST_ACTIVITIES,
    ActivityKind,
    ActivitySeen,
    NodeSeen,
    Record,
    Recorded,
)
from engine.protocol.extensions import (
    MOST_SOURCE_CHARACTERS,
    BuildExtension,
    ExtensionAccess,
    ExtensionBuilt,
    ExtensionRequest,
    NativeKernel,
    NativeSource,
)
from engine.protocol.input_variants import LayOutVariant, PrepareVariant, Variant, VariantLaidOut
from engine.protocol.launches import require_small_enough
from engine.protocol.messages import (
    CaseCommand,
    Command,
    ComplexSpec,
    Done,
    DTypeSpec,
    FloatSpec,
    MappingSpec,
    Message,
    PointersSpec,
    Reply,
    Returned,
    ReturnedSpec,
    ScalarSpec,
    SequenceSpec,
    StorageSpec,
    TensorSpec,
    ValueSpec,
    tensor_specs,
)
from engine.protocol.monitoring import (
    ActionKind,
    ActionSeen,
    ChangeKind,
    ChangeSeen,
    Observe,
    Observed,
    OperatorKind,
    OperatorSeen,
)
from engine.protocol.probes.precision import MeasurePrecision, OutputPrecision, PrecisionMeasured
from engine.protocol.probes.probing import (
    MOST_KERNELS,
    CorrectCount,
    CorrectCounted,
    CountCorrect,
    Kernel,
    Withheld,
    Withhold,
)
from engine.protocol.probes.repeating import (
    Access,
    CompareReading,
    Difference,
    OutputsRepeated,
    ProgramOrder,
    Race,
    ReadingCompared,
    RepeatOutputs,
    Watch,
)
from engine.protocol.proof.binaries import (
    BinaryBuilt,
    BinaryRequest,
    BuildBinary,
    CompileOptions,
    HoldBinary,
    KernelBinary,
)
from engine.protocol.proof.replaying import (
    DropKernels,
    HoldKernel,
    LimitReading,
    Lower,
    Lowered,
    ReplayTape,
    TapeReplayed,
    TapeSlot,
    TimeTape,
)
from engine.protocol.timing import (
    Arrange,
    Arranged,
    CallMode,
    CallTime,
    Check,
    Checked,
    CloseSlots,
    Collect,
    Fetch,
    FreeSlots,
    KernelTime,
    MeasurePeaks,
    OpenSlots,
    PeaksMeasured,
    PrepareBaseline,
    Refresh,
    SlotLayout,
    TimeBaseline,
    TimeCalls,
    Timed,
)
from engine.protocol.verifying import (
    ArenaSpec,
    AttachReference,
    Audited,
    AuditProblem,
    Call,
    Called,
    Compare,
    Compared,
    CompareSnapshot,
    ContentDigests,
    Describe,
    Described,
    Failed,
    FailureKind,
    Load,
    Loaded,
    MemoryShared,
    NextContent,
    OpenMemory,
    Prepare,
    Prepared,
    Ready,
    ReferenceAttached,
    Refill,
    Release,
    Released,
    Sanitize,
    Sanitized,
    SanitizedRun,
    Shape,
    ShareMemory,
    TakeSnapshot,
)

__all__ = [
    "MAX_LINE_BYTES",
    "MOST_ACTIVITIES",
    "MOST_KERNELS",
    "MOST_SOURCE_CHARACTERS",
    "Access",
    "ActionKind",
    "ActionSeen",
    "ActivityKind",
    "ActivitySeen",
    "AnyCommand",
    "AnyReply",
    "ArenaSpec",
    "Arrange",
    "Arranged",
    "AttachReference",
    "AuditProblem",
    "Audited",
    "BinaryBuilt",
    "BinaryRequest",
    "BuildBinary",
    "BuildExtension",
    "BuildLauncher",
    "Call",
    "CallMode",
    "CallTime",
    "Called",
    "CaseCommand",
    "ChangeKind",
    "ChangeSeen",
    "Check",
    "Checked",
    "CloseSlots",
    "Collect",
    "Command",
    "Compare",
    "CompareReading",
    "CompareSnapshot",
    "Compared",
    "Compile",
    "CompileOptions",
    "Compiled",
    "ComplexSpec",
    "ContentDigests",
    "CorrectCount",
    "CorrectCounted",
    "CountCorrect",
    "DTypeSpec",
    "Describe",
    "DescribeCompiled",
    "Described",
    "Difference",
    "Disassemble",
    "Done",
    "DropKernels",
    "DryRunDone",
    "ExtensionAccess",
    "ExtensionBuilt",
    "ExtensionRequest",
    "Failed",
    "FailureKind",
    "Fetch",
    "FloatSpec",
    "FreeSlots",
    "HoldBinary",
    "HoldKernel",
    "Kernel",
    "KernelBinary",
    "KernelTime",
    "LayOutVariant",
    "LimitReading",
    "Load",
    "Loaded",
    "Lower",
    "Lowered",
    "MappingSpec",
    "MeasurePeaks",
    "MeasurePrecision",
    "MemoryShared",
    "Message",
    "NativeKernel",
    "NativeSource",
    "NextContent",
    "NodeSeen",
    "Observe",
    "Observed",
    "OpenMemory",
    "OpenSlots",
    "OperatorKind",
    "OperatorSeen",
    "OutputPrecision",
    "OutputsRepeated",
    "PeaksMeasured",
    "PointersSpec",
    "PrecisionMeasured",
    "Prepare",
    "PrepareBaseline",
    "PrepareVariant",
    "Prepared",
    "ProgramOrder",
    "Race",
    "ReadingCompared",
    "Ready",
    "Record",
    "Recorded",
    "ReferenceAttached",
    "Refill",
    "Refresh",
    "Release",
    "Released",
    "RepeatOutputs",
    "ReplayTape",
    "Reply",
    "Returned",
    "ReturnedSpec",
    "RunDry",
    "Sanitize",
    "Sanitized",
    "SanitizedRun",
    "ScalarSpec",
    "SequenceSpec",
    "Shape",
    "ShareMemory",
    "SlotLayout",
    "StorageSpec",
    "SuppressedLaunch",
    "TakeSnapshot",
    "TapeReplayed",
    "TapeSlot",
    "TensorSpec",
    "TimeBaseline",
    "TimeCalls",
    "TimeTape",
    "Timed",
    "ValueSpec",
    "Variant",
    "VariantLaidOut",
    "Watch",
    "Withheld",
    "Withhold",
    "decode_command",
    "decode_reply",
    "encode",
    "id_of",
    "new_id",
    "tensor_specs",
]  # fmt: skip

MAX_LINE_BYTES = 4 << 20

AnyCommand: TypeAlias = (
    ShareMemory | OpenMemory | Load | Call | Prepare | Describe | Refill | Compare | TakeSnapshot | CompareSnapshot
    | Release | RunDry | Compile | BuildLauncher | Disassemble | Arrange | Refresh | Check | PrepareBaseline
    | TimeBaseline | MeasurePeaks | FreeSlots | OpenSlots | Fetch | TimeCalls | Collect | CloseSlots | Observe
    | CountCorrect | RepeatOutputs | CompareReading | MeasurePrecision | Record | LayOutVariant | PrepareVariant
    | Lower | DescribeCompiled | LimitReading | HoldKernel | DropKernels | ReplayTape | AttachReference | AuditProblem
    | BuildExtension | TapeSlot | TimeTape | BuildBinary | HoldBinary | Sanitize | WarmUp
)  # fmt: skip
AnyReply: TypeAlias = (
    Ready | Done | MemoryShared | Loaded | Prepared | Described | Called | Compared | Released | DryRunDone | Compiled
    | Arranged | Checked | Timed | PeaksMeasured | Observed | Recorded | CorrectCounted | OutputsRepeated
    | ReadingCompared | PrecisionMeasured | VariantLaidOut | Failed | Lowered | TapeReplayed | ReferenceAttached
    | Audited | ExtensionBuilt | BinaryBuilt | Sanitized
)  # fmt: skip


class _Addressed(msgspec.Struct):
    """A command of which only the id is decoded."""

    id: str


_commands: msgspec.json.Decoder[AnyCommand] = msgspec.json.Decoder(AnyCommand)
_replies: msgspec.json.Decoder[AnyReply] = msgspec.json.Decoder(AnyReply)
_addresses: msgspec.json.Decoder[_Addressed] = msgspec.json.Decoder(_Addressed)
_NOISE = (msgspec.MsgspecError, ValueError, RecursionError)  # text that is not UTF-8 raises a ValueError


def new_id() -> str:
    """128 random bits in hexadecimal: only a process that has read the command can reply to it."""
    return secrets.token_hex(16)


def encode(message: Message) -> bytes:
    """One line, newline included."""
    return msgspec.json.encode(message) + b"\n"


def decode_command(line: bytes) -> AnyCommand:
    """The command on this line.

    Raises:
        WireError: the line is not a valid command.
    """
    try:
        return _commands.decode(line)
    except _NOISE as error:
        raise WireError(f"not a command: {error}") from error


def id_of(line: bytes) -> str:
    """The id on a line that is not a valid command; "" if there is none, which matches no request."""
    try:
        return _addresses.decode(line).id
    except _NOISE:
        return ""


def decode_reply(line: bytes) -> AnyReply:
    """The reply on this line.

    Raises:
        WireError: the line is not a valid reply.
    """
    try:
        reply = _replies.decode(line)
        _require_small_enough(reply)
    except _NOISE as error:
        raise WireError(f"not a reply: {error}") from error
    return reply


def _require_small_enough(reply: AnyReply) -> None:
    match reply:
        case Called():
            require_small_enough(reply.launches)
        case Failed():
            require_small_enough(reply.launches, reply.out_of_bounds)
        case DryRunDone():
            require_small_enough((*(met.launch for met in reply.launches), *(met.launch for met in reply.keyed)))
