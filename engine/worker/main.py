"""The worker's main loop: load a candidate, call it case by case, until the pipe closes or the process is killed."""

from __future__ import annotations

import contextlib
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import torch
import triton

from engine import protocol
from engine.clock.binding import bound
from engine.clock.returned import copy_out, values_of
from engine.clock.stopwatch import Stopwatch
from engine.devices.hardware.device_memory import DeviceMemoryError, is_lost
from engine.devices.runtimes import runtime_of
from engine.loading import failures, loader, warm_kernel
from engine.loading.extensions import serve_extensions
from engine.loading.poison import Poison
from engine.protocol import tensors
from engine.protocol.transport.service import MessagePipes
from engine.sandbox.confinement import Measure
from engine.sandbox.readable_files import limit_reading
from engine.sandbox.variables import DEVICE_VARIABLE, WARM_CACHE_VARIABLE
from engine.worker import forms, semaphores
from engine.worker.cpu_driver.dry_run import CpuDryRun
from engine.worker.cpu_driver.launcher import Launches
from engine.worker.launches import published
from engine.worker.launches.dry_run import DryRun
from engine.worker.launches.recorder import LaunchRecorder
from engine.worker.launches.records import LaunchLog
from engine.worker.launches.tuning import Tuning
from engine.worker.launches.withholding import Withholding
from engine.worker.memory import CallMemory, NoRoomError, write_tape
from engine.worker.monitor.device.device_trace_recorder import DeviceTraceRecorder
from engine.worker.monitor.device.guard_zones import GuardZones
from engine.worker.monitor.device.own_kernels import OwnKernels
from engine.worker.monitor.observer import Observer
from engine.worker.monitor.race_witness import RaceDetector
from engine.worker.monitor.recent_outputs import OutputRepeater
from engine.worker.taping.graphs import follow_graphs
from engine.worker.taping.recorder import TapeRecorder
from engine.worker.triton_interpreter.gpu_need import GpuNeed
from engine.worker.triton_interpreter.interpreter import Interpreter
from engine.worker.triton_interpreter.program_order import ProgramOrder

_WARM_DTYPES = (torch.float32, torch.float16, torch.bfloat16, torch.int64)
_WARM_ELEMENTS, _WARM_PLACE_BYTES = 64, 1 << 13
_sleep = time.sleep  # bound before a candidate can replace it
_PARTS = 10  # parts of a pause: on a busy machine each part waits for a CPU, as a thread that writes late does


def serve(commands: int, replies: int, in_force: tuple[str, ...]) -> None:
    """Warm up, report that, and carry out commands."""
    pipes = MessagePipes(commands, replies)
    worker = _Worker(torch.device(os.environ[DEVICE_VARIABLE]), limits_reading=Measure.READING in in_force)
    versions = {"torch": str(torch.__version__), "triton": triton.__version__, "python": platform.python_version()}
    unrecorded = worker.unrecorded[:500]
    pipes.reply(protocol.Ready(id="ready", confinement=in_force, versions=versions, unrecorded=unrecorded))
    pipes.serve(worker.carry_out)


def warm_up(device: torch.device) -> None:
    """Launch something small as calls do: the first use of a kernel in a process is many times slower than later ones.

    A driver loads each of torch's kernels when it is first launched: those of poison, zones and copies too.
    """
    with Poison(0):
        warm_kernel.run(device)
    guard_zones = GuardZones(0, device)
    with guard_zones, Poison(0):
        made = tuple(torch.empty(_WARM_ELEMENTS, dtype=dtype, device=device) for dtype in _WARM_DTYPES)
    guard_zones.check()
    copy_out(made, torch.empty(_WARM_PLACE_BYTES, dtype=torch.uint8, device=device))


class _Worker:
    def __init__(self, device: torch.device, *, limits_reading: bool) -> None:
        self._device = device
        self._limits_reading = limits_reading
        self._launch_log = LaunchLog()
        self._withholding = Withholding()
        self._program_order = ProgramOrder(device)
        self._race_detector = RaceDetector()
        self._tape_recorder = TapeRecorder()
        semaphores.install()
        self._gpu_need = GpuNeed()
        self._launches: Launches | None = None
        self._tuning: Tuning | None = None
        self._recorder: LaunchRecorder | None = None
        if device.type == "cpu":
            self._launches = Launches(
                launch_log=self._launch_log,
                withholding=self._withholding,
                program_order=self._program_order,
                gpu_need=self._gpu_need,
                interpreter=Interpreter(program_order=self._program_order, race_detector=self._race_detector),
                recorder=self._tape_recorder,
            )
            self._launches.install()
            self._gpu_need.install()
            self._tuning = Tuning(self._launches.reports.note_tuned)
            torch.set_num_threads(1)  # small tensors; the other cores belong to the judge, the compiler and the user
        else:
            published.read_from(_warm_cache())
            warm_up(device)
            torch.cuda.synchronize()
            self._recorder = LaunchRecorder(self._launch_log, self._withholding, self._tape_recorder)
            self._recorder.turn(on=True)
            self._tuning = Tuning()
        self._entry: Callable[..., Any] | None = None  # Any: an untrusted function
        self._filename = ""
        self._memory = CallMemory(device)
        self._output_repeater = OutputRepeater(self._memory)
        self._observer = Observer(device, self._tape_recorder)
        if device.type != "cpu":
            follow_graphs(self._tape_recorder, self._observing_capture)
        self._dry_run: DryRun | CpuDryRun | None = None
        self._stopwatch = Stopwatch(device, self._loaded_entry, open_block=self._memory.block)
        self._own_kernels = OwnKernels()
        self._device_trace_recorder = DeviceTraceRecorder(self._stopwatch.instruments, self._own_kernels)

    @property
    def unrecorded(self) -> str:
        """Reason why the device's activity record cannot be read here; "" if it can."""
        instruments = self._stopwatch.instruments
        if instruments is None:
            return f"the record of a {self._device.type} device cannot be read"
        return instruments.reason

    def carry_out(self, command: protocol.AnyCommand) -> protocol.AnyReply:
        try:
            return self._carry_out(command)
        except (DeviceMemoryError, NoRoomError) as error:
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.UNSUPPORTED, message=str(error))
        except BaseException as error:  # process boundary: everything a candidate raises becomes a reply
            sys.stdout.flush()
            failed = failures.failure(command.id, error, self._filename)
            return msgspec.structs.replace(
                failed,
                launches=self._launch_log.take_unreported(),
                ledger=self._withholding.take_ledger(),
                executed=self._launches.reports.executed() if self._launches is not None else None,
                broken=is_lost(self._device),
            )

    def _carry_out(self, command: protocol.AnyCommand) -> protocol.AnyReply:
        match command:
            case protocol.OpenMemory():
                self._memory.block(command.handle, command.block_bytes)
                return protocol.Done(id=command.id)
            case protocol.Load():
                return self._load(command)
            case protocol.Call():
                return self._call(command)
            case protocol.RepeatOutputs():
                return self._repeat_outputs(command)
            case protocol.Record():
                return self._record(command)
            case protocol.Observe():
                return self._observer.observed(command.id)
            case protocol.RunDry():
                self._dry_run = self._dry_run or self._begin_dry_run()
                return self._dry_run.call(self._loaded_entry(), command)
            case protocol.OpenSlots():
                if self._tuning is not None and self._recorder is not None:
                    self._tuning.start_measuring(command.tuning_s)
                    self._recorder.turn(on=False)
                return self._stopwatch.carry_out(command)
            case protocol.TapeSlot():
                return self._tape_slot(command)
            case protocol.Fetch() | protocol.TimeCalls() | protocol.Collect() | protocol.CloseSlots():
                reply = self._stopwatch.carry_out(command)
                note = self._tuning.note if self._tuning is not None else ""
                if note and isinstance(reply, protocol.Timed):
                    return msgspec.structs.replace(reply, notes=(*reply.notes, note))
                return reply
        message = f"a worker does not carry out {type(command).__name__}"
        return protocol.Failed(id=command.id, kind=protocol.FailureKind.ENGINE, message=message)

    def _load(self, command: protocol.Load) -> protocol.AnyReply:
        self._filename = command.path
        if self._launches is not None:
            self._launches.watch(command.path)
            self._launches.specialise_for(command.target)
            published_folders = tuple(map(Path, command.cache_folders))
            self._launches.shared_modules.read_from(published_folders, Path(command.path).parents[1])
            self._gpu_need.watch(command.path)
        if command.cache_folders:
            published.read_from(_warm_cache(), *map(Path, command.cache_folders))
        folder = Path(command.folder) if command.folder is not None else None
        path = Path(command.path)
        modules = Path(command.modules) if command.modules is not None else None
        self._own_kernels.belong_to(path.parent, *(place for place in (folder, modules) if place is not None))
        if self._device.type != "cpu":
            self._own_kernels.follow_writes()
        if self._limits_reading:
            limit_reading((*command.readable, str(_warm_cache())), listed=command.listed)

        if command.extensions is not None:
            serve_extensions(command.extensions)

        def load() -> tuple[Callable[..., Any], tuple[str, ...]]:
            return loader.load(path, folder, command.entry, modules)

        with self._gpu_need.looking_into(load, launches=False), self._observer.loading(path, folder):
            found, siblings = load()
        self._entry = forms.entry_of(found, command.form, fp4=command.fp4)
        return protocol.Loaded(id=command.id, siblings=siblings)

    def _begin_dry_run(self) -> DryRun | CpuDryRun:
        tuning = self._tuning or Tuning()
        return DryRun(self._device, tuning) if self._launches is None else CpuDryRun(self._launches, tuning)

    def _call(self, command: protocol.Call) -> protocol.AnyReply:
        entry = self._loaded_entry()
        if self._recorder is not None:
            self._recorder.turn(on=True)  # it is off while calls are timed
        if self._tuning is not None:
            self._tuning.stop_measuring()  # calls after the benchmark are not timed
        storages = self._memory.storages(command.arena)
        if self._launches is not None:
            self._launches.begin_call({f"storage {i}": part for i, part in enumerate(storages)})
        arguments = [tensors.argument_of(spec, storages) for spec in command.arguments]
        values = [tensors.value_of(spec, storages) for spec in command.arguments]
        call = bound(entry, arguments)
        guard_zones = GuardZones(command.poison, self._device) if self._has_guard_zones(command) else None
        is_plain = command.withhold is None and command.program_order is None
        inputs = [tensor for value in values for tensor in tensors.tensors_in(value)]
        has_work = all(tensor.numel() for tensor in inputs)
        started = time.perf_counter()
        with (
            self._gpu_need.looking_into(
                lambda: _called_on_copies(entry, command, storages), launches=is_plain and has_work
            ),
            self._program_order.during(command.program_order),
            self._race_detector.during(command.program_order),
            self._withholding.during(command.withhold, case=storages),
            guard_zones or contextlib.nullcontext(),
            Poison(command.poison, self._launches.allocations if self._launches is not None else None),
            self._observer.calling(command.case, (*arguments, *inputs), operators=command.observe),
            self._taping(command, arguments, storages),
        ):
            returned = call()
            if command.tape:
                write_tape(Path(command.tape), self._tape_recorder.tape(values_of(returned)))
            # Before any synchronisation: unfinished work on an unjoined stream must not be part of the copied output.
            handed_back = self._output_repeater.write_outputs(command, values, returned)
        self._wait_for_device()
        elapsed_s = time.perf_counter() - started
        if guard_zones is not None:
            guard_zones.check()
        sys.stdout.flush()
        return protocol.Called(
            id=command.id,
            returned=handed_back,
            launches=self._launch_log.take_unreported(),
            elapsed_s=elapsed_s,
            ledger=self._withholding.take_ledger(),
            reordered=self._program_order.launches,
            race=self._race_detector.first or (self._launches.reports.race if self._launches is not None else None),
            executed=self._launches.reports.executed() if self._launches is not None else None,
        )

    def _tape_slot(self, command: protocol.TapeSlot) -> protocol.AnyReply:
        """Call the entry on an open slot once more, with the current choices of autotuners, and write the tape."""
        storages, arguments = self._stopwatch.slot(command.slot)
        call = bound(self._loaded_entry(), arguments)
        if self._recorder is not None:
            self._recorder.turn(on=True)
        try:
            with (
                self._observer.calling(command.case, arguments, operators=False),
                self._tape_recorder.of_call(storages, self._filename),
            ):
                returned = call()
                write_tape(Path(command.tape), self._tape_recorder.tape(values_of(returned)))
        finally:
            if self._recorder is not None:
                self._recorder.turn(on=False)
        self._wait_for_device()
        return protocol.Done(id=command.id)

    def _taping(
        self, command: protocol.Call, arguments: Sequence[Any], storages: Sequence[torch.Tensor]
    ) -> contextlib.AbstractContextManager[None]:
        """Records the tape of a call if the command requests one."""
        if not command.tape:
            return contextlib.nullcontext()
        copies = tensors.host_copies(command.arguments, arguments, storages)
        return self._tape_recorder.of_call(storages, self._filename, host_copies=copies)

    @contextlib.contextmanager
    def _observing_capture(self) -> Iterator[None]:
        """Context in which launches and operators are reported, also in calls that are timed."""
        recording = self._recorder.recording() if self._recorder is not None else contextlib.nullcontext()
        with recording, self._observer.capturing():
            yield

    def _has_guard_zones(self, command: protocol.Call) -> bool:
        """Whether stores past the end are checked: where the machine does not check, and nothing is withheld."""
        is_usual = command.withhold is None and command.program_order is None
        return not runtime_of(self._device).EXECUTED_ON_CPU and is_usual

    def _repeat_outputs(self, command: protocol.RepeatOutputs) -> protocol.OutputsRepeated:
        self._wait_for_device()
        for _ in range(_PARTS if command.pause_s else 0):
            _sleep(command.pause_s / _PARTS)
        returned = self._output_repeater.again()
        self._wait_for_device()
        return protocol.OutputsRepeated(id=command.id, returned=returned)

    def _wait_for_device(self) -> None:
        runtime_of(self._device).synchronise(self._device)

    def _record(self, command: protocol.Record) -> protocol.AnyReply:
        entry = self._loaded_entry()
        storages = self._memory.storages(command.arena)
        arguments = [tensors.argument_of(spec, storages) for spec in command.arguments]
        return self._device_trace_recorder.record(
            command.id,
            bound(entry, arguments),
            lambda returned: self._memory.leave(command.arena, returned, command.outputs, command.max_output_bytes),
        )

    def _loaded_entry(self) -> Callable[..., Any]:
        if self._entry is None:
            raise RuntimeError("a call before a load")
        return self._entry


def _called_on_copies(
    entry: Callable[..., Any],  # Any: whatever the entry takes and returns
    command: protocol.Call,
    storages: Sequence[torch.Tensor],
) -> Any:  # Any: as above
    """Returned values of the entry on copies of the storages, which live as long as the call."""
    copies = [storage.clone() for storage in storages]
    return entry(*(tensors.argument_of(spec, copies) for spec in command.arguments))


def _warm_cache() -> Path:
    return Path(os.environ[WARM_CACHE_VARIABLE])
