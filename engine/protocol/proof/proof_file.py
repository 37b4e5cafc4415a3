"""A proof as one file: the tapes of a run's proven cases and the TTIR of their launches, for replay elsewhere.

Lines of JSON.  The first names the format and has the SHA-256 of all the others: one line for the run, one for each
kernel, one for each case.  The hash detects damage, not forgery: only a replay proves what a file claims.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Iterator
from typing import Annotated, TypeAlias

import msgspec

from engine.errors import UsageError
from engine.protocol.launches import require_small_enough
from engine.protocol.messages import Count, Digest, Message, Text, Word
from engine.protocol.proof.replaying import kernel_name
from engine.protocol.proof.tape import MOST_MODULE_CHARACTERS, MOST_STEPS, Tape
from engine.protocol.verifying import ContentDigests

MOST_FILE_BYTES = 256 << 20
_FORMAT, _VERSION = "kgtui proof", 1
_HEAD = re.compile(rb'\{"format":"kgtui proof","version":(\d{1,6}),"sha256":"([0-9a-f]{64})"\}\n')
_PACKING_LEVEL = 1  # tapes and TTIR shrink to an eighth in milliseconds


class ProofFileError(UsageError):
    """The file is not a proof, was changed, or contradicts itself; the message has the case and the next step."""


class ProvenRun(Message, tag_field="record", tag="run", frozen=True):
    """The run that a proof is of, and the versions that made it.

    `problem_version` is the hash of the file of an operator that does not come with kgtui.  `unproven` has the reason
    of each passed case that the file does not prove.
    """

    problem: Word
    problem_version: str
    candidate: Digest
    device: Word
    target: Word
    versions: Annotated[dict[Word, Word], msgspec.Meta(max_length=64)]
    unproven: Annotated[dict[Word, Text], msgspec.Meta(max_length=4096)]


class ProvenKernel(Message, tag_field="record", tag="kernel", frozen=True):
    """A specialisation: its TTIR and the arguments that it takes; `name` is the hash of both."""

    name: Digest
    ttir: Annotated[str, msgspec.Meta(max_length=MOST_MODULE_CHARACTERS)]
    arguments: Annotated[tuple[Word, ...], msgspec.Meta(max_length=1024)]


class ProvenCase(Message, tag_field="record", tag="case", frozen=True):
    """The tape of a case, the kernels of its specialisations in order, and the replay that proved it.

    `seed` made the inputs of that replay.  `without` are the Given steps whose data differed between two tapes of the
    worker; noise replaces their data.
    """

    case: Word
    seed: Count
    digests: ContentDigests
    kernels: tuple[Digest, ...]
    without: Annotated[tuple[Count, ...], msgspec.Meta(max_length=MOST_STEPS)]
    tape: Tape


class ProofFile(Message, frozen=True):
    """Content of a proof file."""

    run: ProvenRun
    kernels: tuple[ProvenKernel, ...]
    cases: tuple[ProvenCase, ...]

    def kernels_of(self, case: ProvenCase) -> tuple[ProvenKernel, ...]:
        """The kernels that a case launches, by the numbers of its specialisations."""
        kernel_by_name = {kernel.name: kernel for kernel in self.kernels}
        return tuple(kernel_by_name[name] for name in case.kernels)


_Record: TypeAlias = ProvenRun | ProvenKernel | ProvenCase
_records: msgspec.json.Decoder[_Record] = msgspec.json.Decoder(_Record)


def proof_bytes(proof: ProofFile) -> bytes:
    """The file as bytes."""
    body = b"".join(msgspec.json.encode(record) + b"\n" for record in (proof.run, *proof.kernels, *proof.cases))
    return _head(hashlib.sha256(body).hexdigest()) + body


def read_proof(content: bytes) -> ProofFile:
    """The proof in a file, checked against its hash and for consistency.

    Raises:
        ProofFileError: the file is damaged or inconsistent.
    """
    if len(content) > MOST_FILE_BYTES:
        raise ProofFileError(f"a proof file has at most {MOST_FILE_BYTES:,} bytes, this one has {len(content):,}")
    head = _HEAD.match(content)
    if head is None:
        raise ProofFileError("not a proof file: wrong first line; `kgtui export-proof RUN FILE` writes one")
    if int(head[1]) != _VERSION:
        raise ProofFileError(f"a proof file of version {int(head[1])}; this kgtui reads version {_VERSION}")
    body = content[head.end() :]
    if hashlib.sha256(body).hexdigest().encode() != head[2] or content[: head.end()] != _head(head[2].decode()):
        raise ProofFileError("the proof file was changed or damaged: its SHA-256 differs; export it again")
    try:
        records = [_records.decode(line) for line in body.splitlines()]
        return _assembled(records)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise ProofFileError(f"not a proof file that can be read: {error}") from error


def packed(content: bytes) -> bytes:
    """The bytes of a proof file, compressed for the store."""
    return zlib.compress(content, _PACKING_LEVEL)


def unpacked(content: bytes) -> bytes:
    """The content that `packed` compressed.

    Raises:
        ProofFileError: the content is damaged, or too large.
    """
    reader = zlib.decompressobj()
    try:
        text = reader.decompress(content, MOST_FILE_BYTES)
    except zlib.error as error:
        raise ProofFileError(f"the stored proof is damaged ({error}); verify the kernel again") from error
    if not reader.eof:
        raise ProofFileError("the stored proof is damaged or too large; verify the kernel again")
    return text


def _head(digest: str) -> bytes:
    return f'{{"format":"{_FORMAT}","version":{_VERSION},"sha256":"{digest}"}}\n'.encode()


def _assembled(records: list[_Record]) -> ProofFile:
    runs = [record for record in records if isinstance(record, ProvenRun)]
    if len(runs) != 1:
        raise ValueError(f"{len(runs)} lines of a run; expected one")
    proof = ProofFile(
        run=runs[0],
        kernels=tuple(record for record in records if isinstance(record, ProvenKernel)),
        cases=tuple(record for record in records if isinstance(record, ProvenCase)),
    )
    for fault in _faults(proof):
        raise ValueError(fault)
    return proof


def _faults(proof: ProofFile) -> Iterator[str]:
    """Contradictions between parts of a proof, one sentence each."""
    names = {kernel.name for kernel in proof.kernels}
    if len(names) < len(proof.kernels):
        yield "two lines have the same kernel"
    for kernel in proof.kernels:
        if kernel_name(kernel.ttir, kernel.arguments) != kernel.name:
            yield f"kernel {kernel.name[:12]} has a TTIR that does not match its name"
    if len({case.case for case in proof.cases}) < len(proof.cases):
        yield "two lines have the same case"
    for case in proof.cases:
        require_small_enough(case.tape.specialisations)
        if not names.issuperset(case.kernels):
            yield f"case {case.case} launches a kernel that the file does not have"
        if len(case.kernels) != len(case.tape.specialisations):
            yield f"case {case.case} has {len(case.kernels)} kernels for {len(case.tape.specialisations)} launches"
        if any(number >= len(case.tape.steps) for number in case.without):
            yield f"case {case.case} leaves out a step that its tape does not have"
