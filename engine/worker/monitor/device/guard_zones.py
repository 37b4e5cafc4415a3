"""Guard zones behind the tensors that a candidate allocates on a device, to which no store may write.

The interpreter checks every address; a device does not, and a write behind a tensor may reach unused memory unnoticed.
So allocations of a verified call get an additional zone, filled with a known byte, which is checked after the call.
Behind the tensors of the judge are its own guard zones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from engine.clock.safe_torch import Base, without_modes
from engine.devices.runtimes import runtime_of
from engine.loading.raised import StrayStoreError
from engine.worker import kept_storages

ZONE_BYTES = 16 << 10
"""Size of each zone: a store without a mask exceeds the end by less than one program's block."""
_MOST_BYTES = 256 << 20  # limit for one tensor, which is copied once, and for all that is kept until the call ends
_MOST_ZONES = 64

_ALLOCATIONS = frozenset(
    getattr(torch.ops.aten, name)
    for name in (
        "empty", "empty_strided", "empty_like", "new_empty", "new_empty_strided", "empty_permuted",
        "zeros", "zeros_like", "new_zeros", "ones", "ones_like", "new_ones", "full", "full_like", "new_full",
    )
)  # fmt: skip
_RESIZES = frozenset((torch.ops.aten.resize_, torch.ops.aten.resize_as_))


@dataclass(frozen=True, kw_only=True)
class _Zone:
    """The bytes behind a tensor of `size_bytes`; its storage is kept alive, so that its memory is not reused."""

    storage: torch.UntypedStorage
    size_bytes: int
    content: torch.Tensor
    made: str

    @property
    def is_in_force(self) -> bool:
        """Whether the memory still has its original size."""
        return self.storage.nbytes() == self.size_bytes + ZONE_BYTES


class GuardZones(TorchDispatchMode):
    """While active, new tensors of this thread on `device` have a zone behind them that holds the byte `pattern`."""

    def __init__(self, pattern: int, device: torch.device) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch does not annotate it
        self.pattern = pattern
        self.device = device
        self._runtime = runtime_of(device)
        self._zones: list[_Zone] = []
        self._bytes = 0

    def widen(self, tensor: torch.Tensor) -> None:
        """Give a new tensor its zone, if there is space for that.

        A tensor of a graph that is being captured gets none: nothing is filled before the graph is replayed.
        """
        storage = tensor.untyped_storage()
        needed = storage.nbytes()
        if not needed or self._bytes + needed > _MOST_BYTES or len(self._zones) == _MOST_ZONES:
            return
        if self._runtime.is_capturing():
            return
        storage.resize_(needed + ZONE_BYTES)
        with without_modes():
            whole = torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(storage)
            content = Base.narrow(whole, 0, needed, ZONE_BYTES)
            Base.fill_(content, self.pattern)
        kept_storages.keep(storage, needed)
        made = f"a tensor of {tuple(tensor.shape)} {_type(tensor)}"
        self._zones.append(_Zone(storage=storage, size_bytes=needed, content=content, made=made))
        self._bytes += needed

    def forget(self, tensor: torch.Tensor) -> None:
        """Drop the zone of a tensor that is enlarged in place, and may grow into it."""
        storage = tensor.untyped_storage()
        kept_storages.forget(storage)
        self._zones = [zone for zone in self._zones if zone.storage.data_ptr() != storage.data_ptr()]
        self._bytes = sum(zone.size_bytes for zone in self._zones)

    def check(self) -> None:
        """Check the zones, after the device has finished its work, and release them.

        Raises:
            StrayStoreError: one was changed.
        """
        zones, self._zones, self._bytes = [zone for zone in self._zones if zone.is_in_force], [], 0
        if not zones:
            return
        with without_modes():
            changed = [Base.ne(zone.content, self.pattern) for zone in zones]
            counts = torch.stack([Base.sum(one) for one in changed]).tolist()
        for zone, count in zip(zones, counts, strict=True):
            if count:
                raise StrayStoreError(
                    f"memory past the end of {zone.made}, which the entry made, was written (bytes: {int(count)}): "
                    "a store without a mask, or with a wrong one"
                )


def _type(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _dispatch(
    mode: GuardZones,
    operator: Any,  # an OpOverload; torch has no public name for its type
    types: Sequence[type],
    args: Sequence[Any] = (),  # Any: the operator's own
    kwargs: dict[str, Any] | None = None,
) -> Any:
    if operator.overloadpacket in _RESIZES:
        mode.forget(args[0])
    result = operator(*args, **(kwargs or {}))
    is_new = operator.overloadpacket in _ALLOCATIONS and "out" not in (kwargs or {})
    if is_new and type(result) is torch.Tensor and result.device.type == mode.device.type:
        mode.widen(result)
    return result


# Not a method in the class body: torch wraps those, and the wrapper's first call imports torch's whole compiler.
GuardZones.__torch_dispatch__ = _dispatch  # type: ignore[method-assign, assignment]  # see above
