"""Hashes of the content of a call, so that two machines can check whether they had the same numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import torch

from engine import protocol
from engine.judge.compare.measures import bytes_of
from engine.judge.inputs.cases import PreparedCase
from engine.model import OutputReport


def digests_of(prepared: PreparedCase, got: Iterable[torch.Tensor | OutputReport]) -> protocol.ContentDigests:
    """The digests of the current call with these outputs."""
    return protocol.ContentDigests(
        inputs=_digest(prepared.content.storages),
        expected=_digest(prepared.content.expected),
        outputs=outputs_digest(got),
    )


def outputs_digest(got: Iterable[torch.Tensor | OutputReport]) -> str:
    """The digest of outputs; one that is not a tensor has no bytes."""
    return _digest(value for value in got if isinstance(value, torch.Tensor))


def _digest(tensors: Iterable[torch.Tensor]) -> str:
    """SHA-256 of the elements of tensors, one after the other, in host memory."""
    sha = hashlib.sha256()
    for tensor in tensors:
        plain = tensor.detach().resolve_conj().resolve_neg().cpu()
        if plain.numel():
            sha.update(bytes_of(plain).numpy().data)
    return sha.hexdigest()
