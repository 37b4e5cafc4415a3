"""Commands and replies of loading and verifying: judge and worker, case by case."""

from __future__ import annotations

import enum
from typing import Annotated

import msgspec

from engine.model import CandidateForm, OutOfBounds, OutputReport, ProblemId
from engine.model.problems.health import Weakness
from engine.protocol.executing import Executed
from engine.protocol.extensions import ExtensionAccess, ExtensionRequest
from engine.protocol.launches import Launches
from engine.protocol.messages import (
    Byte,
    CaseCommand,
    Command,
    Count,
    Digest,
    FilePaths,
    LineNumber,
    Message,
    Reply,
    Returned,
    StorageSpec,
    Text,
    ValueSpec,
    Word,
)
from engine.protocol.probes.probing import Ledger, Withhold
from engine.protocol.probes.repeating import ProgramOrder, Race, Watch


class ArenaSpec(Message, frozen=True):
    """Memory that judge and worker share, and its division into storages.

    It is the file at `path` or, with a `handle`, the beginning of the block of device memory behind it, which has
    `block_bytes`.  On a device `outputs` is the place for what the entry returns.
    """

    storages: tuple[StorageSpec, ...]
    bytes: Count
    path: str = ""
    handle: str = ""
    block_bytes: Count = 0
    outputs: StorageSpec | None = None


class ShareMemory(Command, tag="share_memory", frozen=True):
    """Judge: name a block of device memory that a worker can try to open."""


class OpenMemory(Command, tag="open_memory", frozen=True):
    """Worker: open this block of the judge; sent before it loads a candidate, so that the reply can be trusted."""

    handle: str
    block_bytes: Count


class Load(Command, tag="load", frozen=True):
    """Import the candidate at `path`; its imports are searched in `modules` and `folder` after the standard library.

    `cache_folders` have code compiled for it elsewhere, searched before compiling.  Besides libraries it can read paths
    at or below `readable`, and the names in `listed`.  An interpreting worker refuses the launches that the GPU
    `target` would refuse.  `form` is the kind of entry.  With `extensions`, native code is loaded from there and never
    compiled.  `fp4` are the positions of arguments of bytes that the entry gets as fp4 values.
    """

    path: str
    folder: str | None
    entry: str
    modules: str | None = None
    cache_folders: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()
    target: str | None = None
    form: CandidateForm = CandidateForm.FUNCTION
    extensions: ExtensionAccess | None = None
    fp4: tuple[int, ...] = ()


class Call(Command, tag="call", frozen=True):
    """Call the entry on tensors in `arena`; returned tensors are written as raw bytes to the file `outputs`.

    `poison` is the byte that fills every uninitialised allocation of the candidate; `withhold` are launches to
    suppress. `observe` records the operators of torch, which makes each of them slower.  `program_order` and `watch`
    are for repeated calls.  With a `tape` the tape of the call is written to that file.
    """

    case: str
    arguments: tuple[ValueSpec, ...]
    arena: ArenaSpec
    outputs: str
    max_output_bytes: Count
    poison: Byte
    withhold: Withhold | None = None
    observe: bool = False
    program_order: ProgramOrder | None = None
    watch: Watch | None = None
    tape: str = ""


class Prepare(CaseCommand, tag="prepare", frozen=True):
    """Make inputs and expected outputs of a case, and lay the inputs out for the worker.

    They are laid out in device memory, or in a new file at `arena_path` when one is given.

    The judge draws the seed itself unless one is given, to replay a case that has ended.  With `draw_seed` this seed
    and all later draws for the case follow from that number.  Without `expects` expected outputs are made when a
    comparison first needs them: the reference is known to work on this case.  With `fresh_ahead` the new content that
    the next Refill or NextContent asks for is made, too.
    """

    problem: ProblemId
    case: str
    arena_path: str | None
    poison: Byte
    seed: int | None = None
    draw_seed: int | None = None
    expects: bool = True
    fresh_ahead: bool = False


class Describe(Command, tag="describe", frozen=True):
    """Describe the arguments of these cases, without their content.

    The inputs made for that are kept for a Prepare without a seed, unless `keeps` is false.
    """

    problem: ProblemId
    cases: tuple[str, ...]
    keeps: bool = True


class AttachReference(Command, tag="attach_reference", frozen=True):
    """Judge: open this foreign problem in the reference process `pid`, which has its pipes in `folder`."""

    problem: ProblemId
    folder: str
    pid: int


class AuditProblem(Command, tag="audit_problem", frozen=True):
    """Judge: audit this foreign problem in the reference process `pid`, which has its pipes in `folder`."""

    problem: ProblemId
    folder: str
    pid: int


class Audited(Reply, tag="audited", frozen=True):
    """Every weakness of the problem that was found."""

    weaknesses: tuple[Weakness, ...] = ()


class ReferenceAttached(Reply, tag="reference_attached", frozen=True):
    """The reference has run; `notes` describe how, and the tolerance that follows.

    `left_out` are the cases that this machine has too little memory for.
    """

    notes: Annotated[tuple[Text, ...], msgspec.Meta(max_length=64)] = ()
    left_out: Annotated[tuple[Word, ...], msgspec.Meta(max_length=4096)] = ()


class Refill(CaseCommand, tag="refill", frozen=True):
    """Write the arena of the prepared case again, poisoned again, with new content when `fresh`.

    The judge draws the seed of new content unless one is given, to lay out the same content elsewhere.
    """

    fresh: bool
    poison: Byte
    seed: int | None = None


class Compare(CaseCommand, tag="compare", frozen=True):
    """Compare the arena and `outputs` after a call with the values expected of it.

    Without `explain` a wrong output is not diagnosed, which takes longer than comparing.  With `digests` the hashes of
    inputs, expected outputs and outputs are reported, with `hash_outputs` that of the outputs alone, and with `tables`
    the size of a table of answers.  With `other_seed` the elements that are right for the content of that seed are
    counted, too.
    """

    outputs: str
    max_output_bytes: Count
    returned: Returned
    explain: bool = True
    digests: bool = False
    hash_outputs: bool = False
    tables: bool = False
    other_seed: int | None = None


class NextContent(Message, frozen=True):
    """Content of the arena for the next call, as of a Refill."""

    fresh: bool
    poison: Byte


class TakeSnapshot(CaseCommand, tag="take_snapshot", frozen=True):
    """Copy arena and outputs of this call for a later comparison; then write the `next_content`, if any."""

    outputs: str
    max_output_bytes: Count
    returned: Returned
    next_content: NextContent | None = None
    explain: bool = True
    hash_outputs: bool = False


class CompareSnapshot(CaseCommand, tag="compare_snapshot", frozen=True):
    """Compare the copy of the TakeSnapshot of this id; with `ends` the case ends: report its seed and drop it."""

    taken: str
    ends: bool


class Release(CaseCommand, tag="release", frozen=True):
    """Forget the current case, and report its seed now that it has ended."""


class Ready(Reply, tag="ready", frozen=True):
    """The child is warm; `confinement` names the rights it has given up.

    `launchers_for` are the backends whose launches need code that a compiler builds separately.  `unrecorded` is the
    reason why a worker cannot read the device's activity record.
    """

    confinement: Annotated[tuple[Word, ...], msgspec.Meta(max_length=64)] = ()
    versions: Annotated[dict[Word, Word], msgspec.Meta(max_length=64)] = msgspec.field(default_factory=dict)
    launchers_for: Annotated[tuple[Word, ...], msgspec.Meta(max_length=64)] = ()
    unrecorded: Word = ""


class MemoryShared(Reply, tag="memory_shared", frozen=True):
    """A block that stays open as long as the judge lives."""

    handle: str
    block_bytes: Count


class Loaded(Reply, tag="loaded", frozen=True):
    """The candidate was imported; `siblings` are the imported files of its folder."""

    siblings: FilePaths = ()


class Prepared(Reply, tag="prepared", frozen=True):
    """Inputs are in the arena.  The judge keeps the seed until the case has ended.

    An `idle` case is one in which the reference changes nothing.
    """

    arguments: tuple[ValueSpec, ...]
    arena: ArenaSpec
    elapsed_s: float
    idle: bool = False


class Shape(Message, frozen=True):
    """The arguments of a case, and the sizes in bytes of the storages that they view."""

    arguments: tuple[ValueSpec, ...]
    storages: tuple[Count, ...]


class Described(Reply, tag="described", frozen=True):
    """One shape for each requested case."""

    shapes: tuple[Shape, ...]


class Called(Reply, tag="called", frozen=True):
    """The entry returned.  `ledger` counts the launches of a call of which some were withheld.

    `reordered` counts those whose programs ran in another order than the default; `race` is a conflict of two programs,
    if a witness was requested and found any; `executed` is the machine's report of its launches.
    """

    returned: Returned
    launches: Launches
    elapsed_s: float
    ledger: Ledger = ()
    reordered: Count = 0
    race: Race | None = None
    executed: Executed | None = None


class ContentDigests(Message, frozen=True):
    """SHA-256 of the inputs of a call, of the expected outputs and of the outputs, each as bytes.

    Every nan of an output counts as the same.
    """

    inputs: Digest
    expected: Digest
    outputs: Digest


class Compared(Reply, tag="compared", frozen=True):
    """Comparison of the outputs of one call; `mutated` names an input that changed, or memory beside the outputs.

    `repeated` is whether they equal the first call's bit for bit, None when the content was another.  `seed` is set in
    the reply that ends a case.  `digests` and `outputs_digest` are the requested ones.  `passes_own_rule` is the result
    of the suite's own rule for a foreign problem's outputs.  `table_bytes` is the least size of a table, made before
    the content was drawn, that can hold half of the answer: 0 where that is any size, None where it was not requested.
    `right_for_other` counts the elements that are right for the content of `other_seed`.
    """

    reports: tuple[OutputReport, ...]
    repeated: bool | None
    mutated: str | None
    seed: int | None = None
    digests: ContentDigests | None = None
    outputs_digest: Digest | None = None
    passes_own_rule: bool | None = None
    table_bytes: int | None = None
    right_for_other: int | None = None


class Released(Reply, tag="released", frozen=True):
    """The case has ended; `seed` makes its inputs again, None when no inputs were made."""

    seed: int | None


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
    PROBLEM = "problem"
    EXTENSION = "extension"
    ENGINE = "engine"


class Failed(Reply, tag="failed", frozen=True):
    """The command failed; `line` is a line of the candidate's file, `trace` the whole traceback for the log.

    A `broken` child can do nothing more: its device context is lost.  `extension` is native code that has to be built
    first, if the kind is EXTENSION.
    """

    kind: FailureKind
    message: Text
    line: LineNumber | None = None
    trace: Text = ""
    out_of_bounds: OutOfBounds | None = None
    launches: Launches = ()
    ledger: Ledger = ()
    executed: Executed | None = None
    broken: bool = False
    extension: ExtensionRequest | None = None
