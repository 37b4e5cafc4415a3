"""Launches on the CPU: every launch enters `Launches.carry_out` and runs in `Launches._run`.

The machine executes the TTIR; if it does not support an operation, Triton's interpreter runs the kernel, and the launch
is noted in `reports`.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch

from engine.devices.hardware.targets import DEFAULT_TARGET
from engine.errors import UnsupportedError
from engine.loading.raised import OutOfBoundsError
from engine.machine.conflicts.warps import Warps
from engine.machine.errors import MachineError
from engine.machine.executor import execute
from engine.machine.ir import Module
from engine.machine.memory import Argument, Memory
from engine.machine.reader import read_module
from engine.machine.results import Execution, Limits
from engine.model import Launch, Traffic
from engine.protocol.compiling import KeyedLaunch
from engine.protocol.proof.tape import MOST_MODULE_CHARACTERS, ClaimedKernel, makes_pointers
from engine.worker.cpu_driver import driver, findings
from engine.worker.cpu_driver.allocations import Allocations
from engine.worker.cpu_driver.frontend import Frontend, parse_options
from engine.worker.cpu_driver.reports import Reports
from engine.worker.cpu_driver.shared_modules import SharedModules
from engine.worker.cpu_driver.storages import arguments_of
from engine.worker.cpu_driver.traffic import traffic_of
from engine.worker.launches.records import OPTIONS, LaunchLog, argument_names, describe, parts_of
from engine.worker.launches.withholding import Withholding
from engine.worker.triton_interpreter.gpu_need import GpuNeed
from engine.worker.triton_interpreter.interpreter import Interpreter
from engine.worker.triton_interpreter.program_order import ProgramOrder
from engine.worker.triton_interpreter.refusals import Refusals, explain_refusals

# Triton's launcher is not typed: sources, metadata and arguments are Any throughout this file.

LIMITS = Limits(steps=1 << 62, elements=1 << 62)
"""No limit of the machine: a call has a deadline, which ends work without end."""


@dataclass(frozen=True, kw_only=True)
class KernelLaunch:
    """A launch that is about to run.

    `specialisation` is the SHA-256 of `ttir`; `values` are the bound arguments by parameter, constants included;
    `described` is the record of the launch; `arguments` are the kernel's run-time arguments, in order, with tensors as
    addresses in `memory`, and `names` their names.
    """

    specialisation: str
    ttir: str
    function: Callable[..., Any]
    grid: tuple[int, int, int]
    values: Mapping[str, Any]
    described: Launch
    arguments: tuple[Argument, ...]
    names: tuple[str, ...]
    memory: Memory

    @property
    def claimed(self) -> ClaimedKernel | None:
        """The TTIR with the names of its arguments; None for one that is larger than a tape may have."""
        if len(self.ttir) > MOST_MODULE_CHARACTERS:
            return None
        return ClaimedKernel(ttir=self.ttir, arguments=self.names)

    @property
    def kernel(self) -> str:
        """The name of the kernel's function."""
        return self.function.__name__


class LaunchRecorder(Protocol):
    """Interface of a recorder of launches, such as that of a tape."""

    @property
    def is_on(self) -> bool:
        """Whether launches are recorded."""
        ...

    def launching(self, launch: KernelLaunch) -> contextlib.AbstractContextManager[None]:
        """Context in which the launch runs."""
        ...


class Launches:
    """Runs every launch of this process; one per worker on the CPU."""

    def __init__(
        self,
        *,
        launch_log: LaunchLog,
        withholding: Withholding,
        program_order: ProgramOrder,
        gpu_need: GpuNeed,
        interpreter: Interpreter,
        recorder: LaunchRecorder | None = None,
        uses_machine: bool = True,
    ) -> None:
        """Without `uses_machine` the interpreter runs every kernel, as for a comparison."""
        self._launch_log = launch_log
        self._withholding = withholding
        self._program_order = program_order
        self._gpu_need = gpu_need
        self._interpreter = interpreter
        self._recorder = recorder
        self._uses_machine = uses_machine
        self._filename = ""
        self._case_storages: dict[str, torch.Tensor] = {}
        self._output = sys.stdout  # that of this process, whatever a candidate puts in its place
        self._refusals = Refusals(DEFAULT_TARGET)
        self._refuses = False
        self._on_suppressed: Callable[[KeyedLaunch], None] | None = None
        self.shared_modules = SharedModules()
        self._frontend = Frontend(self.shared_modules)
        self.allocations = Allocations()
        self.reports = Reports()

    def install(self) -> None:
        """Have every kernel of this process compile to TTIR and launch here."""
        self._interpreter.install()
        self._frontend.install()
        driver.install(DEFAULT_TARGET, self.launcher)
        explain_refusals(lambda: self._refusals)

    def watch(self, filename: str) -> None:
        """Attribute findings to lines of this file."""
        self._filename = filename
        self._interpreter.watch(filename)
        self.reports.watch(filename)

    def specialise_for(self, target: str | None) -> None:
        """Specialise kernels for this target, and refuse launches that this GPU would refuse; None refuses none."""
        self._refuses = target is not None
        if target is not None:
            self._refusals = Refusals(target)
            driver.install(target, self.launcher)

    def suppress(self, on_launch: Callable[[KeyedLaunch], None]) -> None:
        """Lower and launch nothing from now on; `on_launch` gets each suppressed launch whose kernel has a key."""
        self._frontend.stop_lowering()
        self._on_suppressed = on_launch

    def begin_call(self, storages: Mapping[str, torch.Tensor]) -> None:
        """Begin a call; kernels may access these storages of the case by pointers made of integers."""
        self.reports.begin()
        self.allocations.clear()
        self._case_storages = dict(storages)
        self._interpreter.allow(storages)

    def launcher(self, source: Any, metadata: Any) -> Launcher:
        """Launcher of a specialisation, which Triton calls.

        Raises:
            OutOfResources: more threads than a block of the target may have.
        """
        made = Launcher(source, metadata, self)
        self._check_limits(made, (1, 1, 1))
        return made

    def _check_limits(self, launcher: Launcher, grid: Sequence[int]) -> None:
        if self._refuses:
            self._refusals.check_limits(launcher.function.__name__, launcher.metadata, grid)

    def carry_out(self, launcher: Launcher, grid: Sequence[Any], args: Sequence[Any]) -> None:
        """Run a launch, or skip it if launches are withheld or only counted."""
        if self._gpu_need.skips():
            return
        function = launcher.function
        if self._on_suppressed is not None:
            values = dict(zip(launcher.names, args, strict=True))
            if key := launcher.metadata.key:
                launch = describe(function, values, launcher.options, (1,))
                self._on_suppressed(KeyedLaunch(key=key, state=launcher.metadata.state, launch=launch))
            return
        x, y, z = self._refusals.grid(grid)
        self._check_limits(launcher, (x, y, z))
        is_withheld = self._withholding.withholds(function)
        if min(x, y, z) <= 0:
            return
        values = dict(zip(launcher.names, args, strict=True))
        if is_withheld:
            if self._recorder is not None and self._recorder.is_on:
                described = describe(function, values, launcher.options, _trimmed(x, y, z))
                with self._recorder.launching(self._prepared(launcher, (x, y, z), values, described)):
                    pass  # a tape shows what a withheld launch would get
            return
        parts = dict(part for name, value in values.items() for part in parts_of(name, value))
        described = describe(function, values, launcher.options, _trimmed(x, y, z))
        measures = not self._launch_log.has_traffic(described)
        try:
            with self._withholding.launching(function, parts.values()):
                traffic = self._prepare_and_run(launcher, (x, y, z), values, described, measures=measures)
        except OutOfBoundsError:
            self._launch_log.add(described)  # not for other errors, which an autotuner may catch to skip a choice
            raise
        self._launch_log.add(described, traffic=traffic)

    def _prepare_and_run(
        self, launcher: Launcher, grid: tuple[int, int, int], values: Mapping[str, Any], described: Launch, *,
        measures: bool,
    ) -> Traffic | None:  # fmt: skip
        """Run a launch; its traffic where the machine executed it and `measures` it."""
        launch = self._prepared(launcher, grid, values, described)
        printed: list[str] = []
        try:
            with self._recorder.launching(launch) if self._recorder is not None else contextlib.nullcontext():
                execution = self._run(launcher, launch, printed, measures=measures)
        finally:  # a write may run code of the candidate's, whose work the recorder would count as the kernel's
            self._output.writelines(f"{line}\n" for line in printed)
        return traffic_of(execution, self._filename) if execution is not None and measures else None

    def _prepared(
        self, launcher: Launcher, grid: tuple[int, int, int], values: Mapping[str, Any], described: Launch
    ) -> KernelLaunch:
        others = self._case_storages if launcher.makes_pointers else None
        arguments, memory = arguments_of(launcher.signature, values, self.allocations, others)
        return KernelLaunch(
            specialisation=launcher.metadata.hash,
            ttir=launcher.metadata.ttir,
            function=launcher.function,
            grid=grid,
            values=values,
            described=described,
            arguments=arguments,
            names=argument_names(launcher.signature, values),
            memory=memory,
        )

    def _run(self, launcher: Launcher, launch: KernelLaunch, printed: list[str], *, measures: bool) -> Execution | None:
        """The one place where kernels run; the machine's report, None where the interpreter ran the kernel.

        Lines that the kernel prints are added to `printed`.
        """
        if launcher.refused is None and self._uses_machine:
            try:
                execution = execute(
                    launcher.module, launch.grid, launch.arguments, launch.memory,
                    limits=LIMITS, seed=self._program_order.seed, measures=measures, warps=launcher.warps,
                )  # fmt: skip
            except (UnsupportedError, MachineError) as error:
                launcher.refused = error
            else:
                printed += execution.printed
                self._program_order.note_launch(is_reordered=execution.is_reordered)
                self._report_execution(launch, execution)
                return execution
        self.reports.note_interpreted(launch.kernel, str(launcher.refused))
        self.allocations.clear()  # the interpreter does not report the bytes that it writes
        self._interpreter.run(launch.function, launch.values, launch.grid)
        return None

    def _report_execution(self, launch: KernelLaunch, execution: Execution) -> None:
        """Report findings, and raise the one that stopped the kernel."""
        for finding in execution.findings:
            self.reports.note(finding, launch.kernel, launch.grid)
        if not execution.is_complete:
            raise findings.error_of(execution.findings[-1], launch.kernel, launch.grid, self._filename)


class Launcher:
    """One specialisation of a kernel, called by Triton with grid, hooks and all arguments."""

    def __init__(self, source: Any, metadata: Any, launches: Launches) -> None:
        self.function: Callable[..., Any] = source.fn.fn
        self.signature: Mapping[str, Any] = source.signature
        self.names: Sequence[str] = source.fn.arg_names
        self.metadata = metadata
        self.makes_pointers = makes_pointers(metadata.ttir)
        self.options = _options_of(metadata)
        self.warps = Warps.of_launch(
            metadata.num_warps, has_one_block=getattr(metadata, "num_ctas", 1) == 1, threads=metadata.target.warp_size
        )
        self.refused: Exception | None = None
        self._launches = launches

    @functools.cached_property
    def module(self) -> Module:
        """The parsed TTIR.

        Raises:
            UnsupportedError: it has an operation, type or form that the machine does not support.
            MachineError: it exceeds a limit of the machine.
        """
        return read_module(self.metadata.ttir)

    def __call__(
        self,
        grid_0: Any,
        grid_1: Any,
        grid_2: Any,
        stream: object,
        function: object,
        packed_metadata: object,
        launch_metadata: Any,
        enter_hook: Callable[[Any], Any] | None,
        exit_hook: Callable[[Any], Any] | None,
        *args: Any,
    ) -> None:
        if enter_hook is not None:
            enter_hook(launch_metadata)
        self._launches.carry_out(self, (grid_0, grid_1, grid_2), args)
        if exit_hook is not None:
            exit_hook(launch_metadata)


def _trimmed(x: int, y: int, z: int) -> tuple[int, ...]:
    """The grid without axes of one program behind the last axis of several."""
    if z > 1:
        return (x, y, z)
    return (x, y) if y > 1 else (x,)


def _options_of(metadata: Any) -> dict[str, Any]:
    """The launch options for a launch record: warps, stages, and the others that differ from the default."""
    usual = parse_options(metadata.target, {})
    chosen = {name: getattr(metadata, name) for name in OPTIONS if hasattr(usual, name)}
    others = {name: value for name, value in chosen.items() if value != getattr(usual, name)}
    return {"num_warps": metadata.num_warps, "num_stages": metadata.num_stages, **others}
