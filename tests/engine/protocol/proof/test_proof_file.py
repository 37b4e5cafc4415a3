"""A proof file holds what was put into it, and refuses what was changed."""

from __future__ import annotations

import hashlib

import msgspec
import pytest

from engine.protocol.proof.proof_file import ProofFileError, ProvenKernel, packed, proof_bytes, read_proof, unpacked
from tests.engine.replay.proofs import proof


def resealed(content: bytes, old: bytes, new: bytes) -> bytes:
    """The file with other content and the hash that fits it."""
    assert old in content
    body = content.partition(b"\n")[2].replace(old, new)
    digest = hashlib.sha256(body).hexdigest().encode()
    return b'{"format":"kgtui proof","version":1,"sha256":"' + digest + b'"}\n' + body


def test_written_proof_is_read_back_equal() -> None:
    assert read_proof(proof_bytes(proof())) == proof()
    assert unpacked(packed(proof_bytes(proof()))) == proof_bytes(proof())


def test_any_changed_byte_is_refused() -> None:
    content = proof_bytes(proof())
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 1
        with pytest.raises(ProofFileError):
            read_proof(bytes(changed))


def test_truncated_file_is_refused_with_next_step() -> None:
    with pytest.raises(ProofFileError, match="was changed or damaged: its SHA-256 differs; export it again"):
        read_proof(proof_bytes(proof())[:-2])


def test_a_file_of_another_version_is_refused() -> None:
    content = proof_bytes(proof()).replace(b'"version":1', b'"version":2', 1)
    with pytest.raises(ProofFileError, match="a proof file of version 2; this kgtui reads version 1"):
        read_proof(content)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"{}\n", b"\xff" * 100], ids=["empty", "zip", "json", "bytes"])
def test_invalid_proof_file_is_refused(content: bytes) -> None:
    with pytest.raises(ProofFileError, match="not a proof file: wrong first line"):
        read_proof(content)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (b"2.000000e+00", b"3.000000e+00", "has a TTIR that does not match its name"),
        (b'"without":[]', b'"without":[7]', "leaves out a step that its tape does not have"),
        (b'"seed":7', b'"seed":-7', "not a proof file that can be read"),
        (b'"record":"run"', b'"record":"note"', "not a proof file that can be read"),
        (b'"seed":7', b'"seed":7,"note":1', "not a proof file that can be read"),
    ],
    ids=["ttir", "step", "number", "record", "field"],
)
def test_inconsistent_file_is_refused(old: bytes, new: bytes, words: str) -> None:
    with pytest.raises(ProofFileError, match=words):
        read_proof(resealed(proof_bytes(proof()), old, new))


def test_a_case_without_its_kernel_is_refused() -> None:
    with pytest.raises(ProofFileError, match="launches a kernel that the file does not have"):
        read_proof(proof_bytes(msgspec.structs.replace(proof(), kernels=())))


def test_a_kernel_twice_is_refused() -> None:
    (kernel,) = proof().kernels
    assert isinstance(kernel, ProvenKernel)
    with pytest.raises(ProofFileError, match="two lines have the same kernel"):
        read_proof(proof_bytes(msgspec.structs.replace(proof(), kernels=(kernel, kernel))))


@pytest.mark.parametrize("content", [b"", b"x", packed(b"abc")[:-4]], ids=["empty", "other", "cut"])
def test_a_damaged_stored_proof_is_refused(content: bytes) -> None:
    with pytest.raises(ProofFileError, match="the stored proof is damaged"):
        unpacked(content)
