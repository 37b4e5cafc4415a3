"""What parent and children say to each other: one JSON object a line, strictly typed.

The parent writes commands, a child writes replies; each reply carries the random id of the command
that it answers.  Nothing here is ever unpickled, and a line that does not fit its type is an error
of the child that sent it, never a guess.
"""

from __future__ import annotations

import enum
import secrets
from typing import Annotated, TypeAlias

import msgspec

from engine.errors import WireError
from engine.model import Launch, OutOfBounds, OutputReport

MAX_LINE_BYTES = 4 << 20

Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]
LineNumber: TypeAlias = Annotated[int, msgspec.Meta(ge=1)]
_MOST = 2**63 - 1  # what SQLite and every other consumer of an event can hold


class Message(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A frozen record that travels as JSON with its type under "type"."""


class StorageSpec(Message, frozen=True):
    """A block of raw bytes in an arena file, 256-byte aligned; all tensors of a case view such blocks."""

    offset: Count
    bytes: Count


class TensorSpec(Message, tag_field="kind", tag="tensor", frozen=True):
    """A tensor: a strided view, in elements, of storage number `storage` of its arena."""

    storage: Count
    dtype: str
    shape: tuple[Count, ...]
    strides: tuple[int, ...]
    first: Count


class ScalarSpec(Message, tag_field="kind", tag="scalar", frozen=True):
    """A bool, int, str or None."""

    value: bool | int | str | None


class FloatSpec(Message, tag_field="kind", tag="float", frozen=True):
    """A float in hexadecimal, which JSON cannot round and which knows nan and inf."""

    hex: str


class DTypeSpec(Message, tag_field="kind", tag="dtype", frozen=True):
    """A torch.dtype by its name."""

    name: str


class SequenceSpec(Message, tag_field="kind", tag="sequence", frozen=True):
    """A list or tuple of values."""

    items: tuple[ValueSpec, ...]
    is_tuple: bool


ValueSpec: TypeAlias = TensorSpec | ScalarSpec | FloatSpec | DTypeSpec | SequenceSpec


class ArenaSpec(Message, frozen=True):
    """A file of shared memory: where it is and how it is cut into storages."""

    path: str
    storages: tuple[StorageSpec, ...]
    bytes: Count


# ---------------------------------------------------------------- commands


class Command(Message, tag_field="type", frozen=True):
    """What every command carries: the id that its reply must repeat."""

    id: str


class Load(Command, tag="load", frozen=True):
    """Import the candidate at `path`; its own imports are looked up in `folder` after the standard library."""

    path: str
    folder: str | None
    entry: str


class Call(Command, tag="call", frozen=True):
    """Call the entry on tensors in `arena`; returned tensors go as raw bytes to the file `outputs`.

    `poison` is the byte that fills every uninitialised allocation of the candidate.
    """

    case: str
    arguments: tuple[ValueSpec, ...]
    arena: ArenaSpec
    outputs: str
    max_output_bytes: Count
    poison: Annotated[int, msgspec.Meta(ge=0, le=255)]


class Prepare(Command, tag="prepare", frozen=True):
    """Make inputs and expected outputs of a case, and lay the inputs out in a new file at `arena_path`.

    The judge draws the seed itself unless one is given, to replay a case that has ended.
    """

    origin: str
    case: str
    arena_path: str
    poison: Annotated[int, msgspec.Meta(ge=0, le=255)]
    seed: int | None = None


class Refill(Command, tag="refill", frozen=True):
    """Write the arena of the case in hand again, poisoned anew, with new content when `fresh`."""

    fresh: bool
    poison: Annotated[int, msgspec.Meta(ge=0, le=255)]


class Compare(Command, tag="compare", frozen=True):
    """Compare what the worker left in the arena and in `outputs` with what was expected of this call."""

    outputs: str
    max_output_bytes: Count
    returned: tuple[ReturnedSpec, ...]


class Release(Command, tag="release", frozen=True):
    """Forget the case in hand, and tell its seed now that it has ended."""


class Compile(Command, tag="compile", frozen=True):
    """Compile one launch for a target and leave its stages as files in `folder`."""

    launch: Launch
    target: str
    folder: str


class Disassemble(Command, tag="disassemble", frozen=True):
    """Turn the binary `cubin`, a file that Compile left in `folder`, into SASS beside it."""

    folder: str
    cubin: str


# ---------------------------------------------------------------- replies


class ReturnedSpec(Message, frozen=True):
    """One value that the entry returned: a tensor's bytes in the outputs file, or the name of another type."""

    type_name: str
    dtype: str = ""
    shape: tuple[Count, ...] = ()
    offset: Count = 0
    bytes: Count = 0


class Reply(Message, tag_field="type", frozen=True):
    """What every reply carries: the id of its command."""

    id: str


class Ready(Reply, tag="ready", frozen=True):
    """The child is warm; `confinement` names what it has given up."""

    confinement: tuple[str, ...] = ()
    versions: dict[str, str] = {}


class Done(Reply, tag="done", frozen=True):
    """The command was carried out and has nothing else to tell."""


class Loaded(Reply, tag="loaded", frozen=True):
    """The candidate was imported; `siblings` are the files of its own folder that it imported."""

    siblings: tuple[str, ...] = ()


class Prepared(Reply, tag="prepared", frozen=True):
    """Inputs lie in the arena.  The seed stays with the judge until the case has ended."""

    arguments: tuple[ValueSpec, ...]
    arena: ArenaSpec
    elapsed_s: float


class Called(Reply, tag="called", frozen=True):
    """The entry returned."""

    returned: tuple[ReturnedSpec, ...]
    launches: tuple[Launch, ...]
    elapsed_s: float

    def __post_init__(self) -> None:
        _refuse_immense(self.launches)


class Compared(Reply, tag="compared", frozen=True):
    """How the outputs of one call compare; `digest` is of their bytes, `mutated` says what should not have changed."""

    reports: tuple[OutputReport, ...]
    digest: str
    mutated: str | None


class Released(Reply, tag="released", frozen=True):
    """The case has ended; `seed` makes its inputs again, None when no inputs were made."""

    seed: int | None


class Compiled(Reply, tag="compiled", frozen=True):
    """A launch was compiled; `stages` maps artefact kinds to file names in the command's folder."""

    stages: dict[str, str]
    registers: int | None = None
    spill_bytes: int | None = None
    shared_bytes: int | None = None


class FailureKind(enum.StrEnum):
    """Why a command could not be carried out."""

    RAISED = "raised"
    EXITED = "exited"
    NO_ENTRY = "no_entry"
    OUT_OF_MEMORY = "out_of_memory"
    OUT_OF_BOUNDS = "out_of_bounds"
    COMPILE = "compile"
    TAMPERED = "tampered"
    UNSUPPORTED = "unsupported"
    ENGINE = "engine"


class Failed(Reply, tag="failed", frozen=True):
    """The command failed; `line` is a line of the candidate's file, `trace` the whole traceback for the log."""

    kind: FailureKind
    message: str
    line: LineNumber | None = None
    trace: str = ""
    out_of_bounds: OutOfBounds | None = None
    launches: tuple[Launch, ...] = ()

    def __post_init__(self) -> None:
        _refuse_immense(self.launches)


AnyCommand: TypeAlias = Load | Call | Prepare | Refill | Compare | Release | Compile | Disassemble
AnyReply: TypeAlias = Ready | Done | Loaded | Prepared | Called | Compared | Released | Compiled | Failed

_commands: msgspec.json.Decoder[AnyCommand] = msgspec.json.Decoder(AnyCommand)
_replies: msgspec.json.Decoder[AnyReply] = msgspec.json.Decoder(AnyReply)


def _refuse_immense(launches: tuple[Launch, ...]) -> None:
    """JSON knows integers without end; raises ValueError, which the decoder makes its own."""
    for launch in launches:
        numbers = (launch.num_warps, launch.num_stages, launch.line, launch.count, *launch.grid)
        if any(abs(number) > _MOST for number in numbers):
            raise ValueError(f"a launch with a number beyond {_MOST}")


def new_id() -> str:
    """128 random bits in hexadecimal: nobody who has not read the command can answer it."""
    return secrets.token_hex(16)


def encode(message: Message) -> bytes:
    """One line, newline included."""
    return msgspec.json.encode(message) + b"\n"


def decode_command(line: bytes) -> AnyCommand:
    """The command on this line.

    Raises:
        WireError: it is none.
    """
    try:
        return _commands.decode(line)
    except msgspec.MsgspecError as error:
        raise WireError(f"not a command: {error}") from error


def decode_reply(line: bytes) -> AnyReply:
    """The reply on this line.

    Raises:
        WireError: it is none.
    """
    try:
        return _replies.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise WireError(f"not a reply: {error}") from error
