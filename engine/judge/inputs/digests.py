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
    """SHA-256 of the elements of tensors, one after the other, in host memory; every nan counts as the same."""
    sha = hashlib.sha256()
    for tensor in tensors:
        plain = tensor.detach().resolve_conj().resolve_neg().cpu()
        if plain.numel():
            sha.update(_with_one_nan(plain).numpy().data)
    return sha.hexdigest()


def _with_one_nan(values: torch.Tensor) -> torch.Tensor:
    """The bytes of a tensor, all ones for each nan: its sign and payload depend on the order of operations."""
    rows = bytes_of(values)
    if not (values.is_floating_point() or values.is_complex()):
        return rows
    nans = values.isnan()
    return rows.masked_fill(nans.reshape(-1, 1), 0xFF) if nans.any() else rows
