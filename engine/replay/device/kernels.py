"""The kernels that a replayer holds on a device: their TTIR, and binaries for the options of their launches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from engine.devices.hardware.device_memory import DeviceMemoryError
from engine.devices.hardware.loaded_kernel import LoadedKernel
from engine.errors import UnsupportedError
from engine.machine.conflicts.accessed_arguments import AccessedArguments
from engine.machine.ir import Function
from engine.machine.reader import read_module
from engine.model import Launch
from engine.protocol.proof.binaries import CompileOptions, KernelBinary, MapLayout
from engine.protocol.proof.tape import Launched, Tape, TapedDescriptor, TapedView, makes_pointers, view_behind
from engine.replay.device.descriptors import check_within, encode, spread
from engine.replay.device.memory import AddressOf
from engine.replay.device.parameters import address_bytes, packed
from engine.replay.execution import KernelStoppedError, LaunchEffects
from engine.replay.launch_arguments import values_of

_SCRATCH_PARAMETERS = 2  # global scratch memory and profiling memory


@dataclass(frozen=True, kw_only=True)
class HeldKernel:
    """A module and the parameters of its function.

    `written` are the indices of the arguments that it may store through, None if it may store anywhere; a kernel that
    makes pointers of integers may access every storage of a tape.
    """

    ttir: str
    function: Function
    names: tuple[str, ...]
    written: frozenset[int] | None
    makes_pointers: bool

    @classmethod
    def of(cls, ttir: str, names: tuple[str, ...]) -> HeldKernel:
        """The kernel of a text.

        Raises:
            UnsupportedError: an operation, type or form that the reader does not support.
            MachineError: it is malformed, or exceeds a limit.
        """
        function = read_module(ttir).kernel
        return cls(
            ttir=ttir,
            function=function,
            names=names,
            written=AccessedArguments.of(function).written,
            makes_pointers=makes_pointers(ttir),
        )


class DeviceKernels:
    """Holds modules with the binaries of their launches; `load` brings a binary to the device, once."""

    def __init__(
        self,
        device: torch.device,
        *,
        load: Callable[[KernelBinary], LoadedKernel] | None = None,
        encoded: Callable[[TapedDescriptor, MapLayout, int], bytes] = encode,
    ) -> None:
        self._device = device
        self._encoded = encoded
        self._load = load or _load
        self._held: dict[str, HeldKernel] = {}
        self._loaded: dict[tuple[str, CompileOptions], tuple[KernelBinary, LoadedKernel]] = {}

    def hold(self, name: str, kernel: HeldKernel) -> None:
        """Keep a kernel under its name."""
        self._held[name] = kernel

    def hold_binary(self, name: str, options: CompileOptions, binary: KernelBinary) -> None:
        """Load the binary for launches of a kernel with these options.

        Raises:
            UnsupportedError: it takes no scratch memory, or the driver refuses it.
        """
        if len(binary.parameters) < _SCRATCH_PARAMETERS or set(binary.parameters[-_SCRATCH_PARAMETERS:]) != {8}:
            raise UnsupportedError(f"{binary.name}: its binary takes no addresses of scratch memory")
        try:
            self._loaded[name, options] = binary, self._load(binary)
        except DeviceMemoryError as error:
            raise UnsupportedError(f"{binary.name}: the driver does not load its binary ({error})") from error

    def drop(self) -> None:
        """Unload every binary, and forget the modules."""
        loaded, self._loaded = self._loaded, {}
        self._held.clear()
        for _, kernel in loaded.values():
            kernel.unload()

    def launcher(self, tape: Tape, names: Sequence[str]) -> Callable[[Launched, AddressOf], LaunchEffects]:
        """Launcher of the specialisations of a tape, whose kernels have these names."""

        def launch(step: Launched, address_of: AddressOf) -> LaunchEffects:
            return self._launch(tape, step, names[step.specialisation], address_of)

        return launch

    def _launch(self, tape: Tape, step: Launched, name: str, address_of: AddressOf) -> LaunchEffects:
        """Run a launch; returns the storages that it may have written.

        Raises:
            UnsupportedError: it has no binary, or needs what a replay does not provide.
            TapeError: an argument is missing.
            KernelStoppedError: the driver refuses it.
        """
        kernel, launch = self._held[name], tape.specialisations[step.specialisation]
        values = spread(kernel.function, values_of(step, launch.kernel, kernel.names))
        if 0 in step.grid:
            return LaunchEffects(used=frozenset(), stored=frozenset())
        try:
            binary, loaded = self._binary(name, launch)
            sizes = binary.parameters[:-_SCRATCH_PARAMETERS]
            map_of = self._maps(tape, binary, address_of)
            parameters = packed(kernel.function, values, address_of, sizes, map_of=map_of)
            x, y, z = step.grid
            scratch = self._scratch(binary, programs=x * y * z)
            loaded.launch((x, y, z), (*parameters, *map(address_bytes, (scratch.data_ptr(), 0))))
        except DeviceMemoryError as error:
            raise KernelStoppedError(f"{launch.kernel}: the driver refuses it ({error})") from error
        views = list(map(view_behind, values))
        return _stored(kernel, views, storages=len(tape.storages))

    def _maps(self, tape: Tape, binary: KernelBinary, address_of: AddressOf) -> Callable[[TapedDescriptor, str], bytes]:
        """A function that makes the tensor maps of one launch, in the order of its parameters."""
        layouts = iter(binary.maps)

        def map_of(descriptor: TapedDescriptor, name: str) -> bytes:
            layout = next(layouts, None)
            if layout is None:
                raise UnsupportedError(f"argument {name}: a tensor descriptor that the binary does not take")
            check_within(descriptor, tape.storages[descriptor.base.storage].bytes, name)
            return self._encoded(descriptor, layout, address_of(descriptor.base))

        return map_of

    def _binary(self, name: str, launch: Launch) -> tuple[KernelBinary, LoadedKernel]:
        found = self._loaded.get((name, CompileOptions.of(launch)))
        if found is None:
            raise UnsupportedError(f"{launch.kernel}: it has no binary for the options of this launch")
        return found

    def _scratch(self, binary: KernelBinary, *, programs: int) -> torch.Tensor:
        """Global scratch memory for all blocks of a grid; the allocator keeps it until the launch is done."""
        return torch.empty(binary.scratch_bytes * programs, dtype=torch.uint8, device=self._device)


def _load(binary: KernelBinary) -> LoadedKernel:
    return LoadedKernel(binary.code, binary.name, threads=binary.threads, shared_bytes=binary.shared_bytes)


def _stored(kernel: HeldKernel, views: Sequence[TapedView | None], *, storages: int) -> LaunchEffects:
    """Reads and stores of a launch, by the text of its kernel."""
    used = frozenset(view.storage for view in views if view is not None)
    if kernel.makes_pointers:
        used = frozenset(range(storages))
    if kernel.written is None:
        return LaunchEffects(used=used, stored=used)
    written = (views[place] for place in kernel.written)
    return LaunchEffects(used=used, stored=frozenset(view.storage for view in written if view is not None))
