"""Commands and replies of replaying: a kernel as data, and a tape on inputs that its candidate never had."""

from __future__ import annotations

import hashlib
from typing import Annotated

import msgspec

from engine.model import Launch, OutOfBounds, Rearrangement
from engine.protocol.executing import MOST_REPORTS, MemoryReport
from engine.protocol.messages import Command, Count, FilePath, FilePaths, Reply, Returned, Text, ValueSpec, Word
from engine.protocol.proof.tape import MOST_MODULE_CHARACTERS, MOST_STEPS, Tape
from engine.protocol.verifying import ArenaSpec


class Lower(Command, tag="lower", frozen=True):
    """Compiler: make the TTIR of one launch without compiling it further.

    With `keeps_text` the compiler's next compile of this launch does not run the frontend again; with `shares`, the
    digest of what a worker's frontend reads of the kernel, the reply has the text that this worker can use.
    """

    launch: Launch
    target: str
    keeps_text: bool = False
    shares: Annotated[str, msgspec.Meta(max_length=64)] = ""


class Lowered(Reply, tag="lowered", frozen=True):
    """The TTIR of a launch, and the arguments that the kernel's function takes, in order.

    `ttir` names files without folders.  `shared` names them with their folders, and has a marker in place of that of
    the candidate; "" where it was not requested, the frontend reads something else of the kernel here, or the folder
    has no plain name.
    """

    ttir: Annotated[str, msgspec.Meta(max_length=MOST_MODULE_CHARACTERS)]
    arguments: Annotated[tuple[Word, ...], msgspec.Meta(max_length=1024)]
    shared: Annotated[str, msgspec.Meta(max_length=MOST_MODULE_CHARACTERS)] = ""


def kernel_name(ttir: str, arguments: tuple[str, ...]) -> str:
    """Name of a kernel in a replayer: the SHA-256 of its TTIR and arguments."""
    return hashlib.sha256(repr((arguments, ttir)).encode()).hexdigest()


class LimitReading(Command, tag="limit_reading", frozen=True):
    """Replayer: from now on read only libraries and paths at or below `readable`, where that can be enforced."""

    readable: FilePaths


class HoldKernel(Command, tag="hold_kernel", frozen=True):
    """Replayer: read this module and keep it under `name`."""

    name: str
    ttir: str
    arguments: tuple[str, ...]


class DropKernels(Command, tag="drop_kernels", frozen=True):
    """Replayer: unload all kernels and free their memory, so that another run can use this process."""


class ReplayTape(Command, tag="replay_tape", frozen=True):
    """Replayer: execute a tape on the content of `arena`, and write its outputs to the file `outputs`.

    `kernels` are the names of held modules, one for each specialisation of the tape.  `without` are the numbers of
    Given steps whose data is not used.  A tape that needs more than `most_bytes` of memory is refused.  `arguments` are
    those of the entry, and `rearrangement` is whether its answer is a rearrangement of them.  `backwards` is whether
    the programs of a kernel with locks or flags run in descending order, unless one waits for another: in host memory.
    """

    tape: Tape
    kernels: tuple[str, ...]
    arena: ArenaSpec
    outputs: str
    max_output_bytes: Count
    most_bytes: Count
    without: tuple[Count, ...] = ()
    arguments: tuple[ValueSpec, ...] = ()
    rearrangement: Rearrangement = Rearrangement.NO
    backwards: bool = False


class TapeSlot(Command, tag="tape_slot", frozen=True):
    """Worker: call the entry of a timed case once more on this open slot, and write the tape to the file `tape`."""

    case: str
    slot: Count
    tape: FilePath


class TimeTape(Command, tag="time_tape", frozen=True):
    """Replayer on a device: call this tape, and nothing else, on the slots that are opened next.

    `kernels` are the names of held modules, one for each specialisation; `arguments` are those of the entry, whose
    storages have these `sizes` in bytes.  A tape that needs more than `most_bytes` of memory is refused.
    """

    tape: Tape
    kernels: tuple[str, ...]
    arguments: tuple[ValueSpec, ...]
    sizes: tuple[Count, ...]
    most_bytes: Count


class CheckMemory(Command, tag="check_memory", frozen=True):
    """Replayer in host memory: execute a tape on the content of `arena`, and check the accesses of its launches.

    `kernels` are the names of held modules, one for each specialisation, and `without` the numbers of Given steps whose
    data is not used.  A warp of the target has so many `warp_threads`.  A tape that needs more than `most_bytes` of
    memory is refused.
    """

    tape: Tape
    kernels: tuple[str, ...]
    arena: ArenaSpec
    most_bytes: Count
    warp_threads: Count
    without: tuple[Count, ...] = ()


class MemoryChecked(Reply, tag="memory_checked", frozen=True):
    """What the machine found about the accesses of a tape; lines are those of the file of each kernel.

    `stopped` is the reason why a launch was not executed to its end, with `out_of_bounds` if an access was the reason;
    no launch after it was executed.
    """

    memory: Annotated[tuple[MemoryReport, ...], msgspec.Meta(max_length=MOST_REPORTS)] = ()
    stopped: Text = ""
    out_of_bounds: OutOfBounds | None = None


class TapeReplayed(Reply, tag="tape_replayed", frozen=True):
    """A tape was executed.

    `moved_bytes` were written by moves and fills.  `foreign` are the Given steps that outputs may come from;
    `by_kernels` is whether each written output has content that a kernel stored, and torch looked up less than half of
    it.  `rearranged_by` is the move that may have computed an answer that is a rearrangement, `made_by_moves` whether
    memory that mostly moves filled holds it, and `looks_up_foreign` whether a look-up needed a Given step.
    `looks_up_table` is whether one read what depends on no argument, at positions that do, and `looks_up_by_fractions`
    whether positions were fractions of arguments.  `truncated_by` is the first move whose cast dropped fractions of
    content that may depend on the arguments.  `may_wait` is whether programs may wait for each other, so that others
    would run `backwards`.
    """

    returned: Returned
    moved_bytes: Count
    foreign: Annotated[tuple[Count, ...], msgspec.Meta(max_length=MOST_STEPS)] = ()
    by_kernels: bool = False
    rearranged_by: Count | None = None
    made_by_moves: bool = False
    looks_up_foreign: bool = False
    looks_up_table: bool = False
    looks_up_by_fractions: bool = False
    truncated_by: Count | None = None
    may_wait: bool = False
