"""The arena of a finished call, copied: it is read like the arena of a running one and is never written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

import torch

from engine import protocol
from engine.sandbox.untrusted_files import UntrustedFileError

if TYPE_CHECKING:
    from engine.protocol import tensors


class CopiedArena:
    """A copy of the arena of a finished call."""

    def __init__(self, spec: protocol.ArenaSpec, final: list[torch.Tensor], damage: tensors.Damage | None) -> None:
        self.spec = spec
        self._final = final
        self._damage = damage
        self.returned: torch.Tensor | UntrustedFileError | None = None

    def read(self) -> list[torch.Tensor]:
        """The storages after the call."""
        return self._final

    def damaged(self, *, guard: int) -> tensors.Damage | None:
        """The first guard zone that was written to; None if there is none."""
        return self._damage

    def outputs(self) -> torch.Tensor:
        """The bytes of everything that the entry returned.

        Raises:
            UntrustedFileError: the outputs are missing.
        """
        if isinstance(self.returned, UntrustedFileError):
            raise self.returned
        assert self.returned is not None
        return self.returned

    def write(self, storages: Sequence[torch.Tensor], *, guard: int) -> NoReturn:
        """Raise an error: the call is finished."""
        raise TypeError("a copy of an arena is never written")

    def close(self) -> None:
        """No operation: there are no resources."""
