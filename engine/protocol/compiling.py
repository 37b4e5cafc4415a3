"""Commands and replies of compiling: which kernels a case launches, and one of them for one target."""

from __future__ import annotations

from typing import Annotated

import msgspec

from engine.model import Launch
from engine.protocol.launches import MOST_LAUNCHES
from engine.protocol.messages import (
    Command,
    Count,
    Digest,
    FilePath,
    FilePaths,
    Message,
    Reply,
    Text,
    ValueSpec,
    Word,
)
from engine.protocol.proof.binaries import Prebuilt


class RunDry(Command, tag="run_dry", frozen=True):
    """Call the entry with all launches suppressed, on memory of the worker's own, to record them.

    `storages` are the sizes in bytes of the blocks that the arguments view.  With `tunes` every configuration of an
    autotuner is recorded, otherwise the first one alone, which is the one that a verified call launches.
    """

    case: str
    arguments: tuple[ValueSpec, ...]
    storages: tuple[Count, ...]
    tunes: bool = False


class Compile(Command, tag="compile", frozen=True):
    """Compile one launch for a target and leave its stages as files in `folder`.

    With a `specialisation`, Triton's own description of it, the kernel is compiled exactly as a launch on the device
    would, and the cache files of such a launch are written instead; DescribeCompiled then leaves the stages, for which
    no launch waits.  The stages behind TTIR are taken from `prebuilt` where that was made of the same module with the
    same options.
    """

    launch: Launch
    target: str
    folder: str
    specialisation: str = ""
    prebuilt: Prebuilt | None = None


class DescribeCompiled(Command, tag="describe_compiled", frozen=True):
    """Leave the stages of an expected launch as files in `folder`, and report what its binary uses.

    `compiled` is the id of the Compile command, which is one of the last few of this process.
    """

    compiled: Text
    folder: str


class BuildLauncher(Command, tag="build_launcher", frozen=True):
    """Build the code that launches kernels with arguments of these types; for a child without a candidate."""

    types: tuple[str, ...]
    target: str


class WarmUp(Command, tag="warm_up", frozen=True):
    """Compile something small for this target, so that the next compile is as fast as later ones; without a candidate.

    A forked process copies memory when it first writes to it, which takes a third of its first compile.
    """

    target: str


class Disassemble(Command, tag="disassemble", frozen=True):
    """Disassemble the binary `cubin`, a file that Compile left in `folder`, to SASS beside it."""

    folder: str
    cubin: str


class SuppressedLaunch(Message, frozen=True):
    """A suppressed launch of a dry run, and Triton's own description of its specialisation."""

    launch: Launch
    specialisation: Text


class KeyedLaunch(Message, frozen=True):
    """A suppressed launch of a dry run on the CPU; workers find the TTIR of its kernel by `key`.

    `state` is a digest of what the frontend would have read of the kernel.
    """

    key: Digest
    state: Digest
    launch: Launch


def published_name(key: str) -> str:
    """The name of the file in which the TTIR of a kernel with this key is published."""
    return f"{key}.ttir"


class DryRunDone(Reply, tag="dry_run_done", frozen=True):
    """Launches of the entry, including specialisations that this worker has reported before.

    With `is_incomplete` the entry raised because results were missing in the dry run, and may launch more.  On the CPU
    there are `keyed` launches instead, of specialisations that this worker has not reported before.
    """

    launches: Annotated[tuple[SuppressedLaunch, ...], msgspec.Meta(max_length=MOST_LAUNCHES)] = ()
    is_incomplete: bool = False
    keyed: Annotated[tuple[KeyedLaunch, ...], msgspec.Meta(max_length=MOST_LAUNCHES)] = ()


class Compiled(Reply, tag="compiled", frozen=True):
    """A launch was compiled; `stages` maps artefact kinds to file names in the command's folder.

    For an expected launch there are none before DescribeCompiled.  `cache` are the files of Triton's cache that a
    launch will look for, relative to the child's cache folder.
    """

    stages: Annotated[dict[Word, FilePath], msgspec.Meta(max_length=16)]
    registers: Count | None = None
    spill_bytes: Count | None = None
    shared_bytes: Count | None = None
    narrow_offset_line: Count | None = None
    cache: FilePaths = ()
