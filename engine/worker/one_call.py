"""Program that makes one call of a candidate in a separate process, under compute-sanitizer.

    python -I -m engine.worker.one_call REQUEST [limits-reading]

REQUEST is a file with a `Sanitize` command.  Nothing of ours watches the call: each storage is an allocation of its
own, so that an access behind its end is one, and what was never written stays that.  The process inherits the
resource limits, the network and the user of the one that started it, and gives up the other rights itself before it
loads the candidate: the sanitizer needs sockets until the device's driver is open.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import torch

from engine import protocol
from engine.clock.binding import bound
from engine.loading import loader
from engine.loading.extensions import serve_extensions
from engine.protocol import tensors
from engine.sandbox.confinement import restrict_files
from engine.sandbox.readable_files import limit_reading
from engine.sandbox.system_calls import filter_system_calls
from engine.sandbox.variables import DEVICE_VARIABLE
from engine.worker import forms

LIMITS_READING = "limits-reading"


def main() -> None:
    """Carry out the request of the command line; an exception of the candidate ends the process."""
    request = protocol.decode_command(Path(sys.argv[1]).read_bytes())
    if not isinstance(request, protocol.Sanitize):
        raise TypeError(f"{sys.argv[1]} is not a Sanitize command")
    device = torch.device(os.environ[DEVICE_VARIABLE])
    restrict_files(request.writable, address_space=device.type == "cpu", connects=True)
    torch.ones(1, device=device).item()  # opens the device's driver, and the sanitizer's connections to this process
    filter_system_calls(all_threads=True)
    if LIMITS_READING in sys.argv[2:]:
        limit_reading(request.load.readable, listed=request.load.listed)
    call_once(request, device)
    if device.type != "cpu":
        torch.cuda.synchronize()


def call_once(request: protocol.Sanitize, device: torch.device) -> Any:  # Any: whatever the entry returns
    """Result of the candidate's entry for the arguments in the arena file."""
    load, call = request.load, request.call
    if load.extensions is not None:
        serve_extensions(load.extensions)
    storages = [
        torch.frombuffer(bytearray(content), dtype=torch.uint8).to(device)
        if content
        else torch.empty(0, dtype=torch.uint8, device=device)
        for content in _contents(call.arena)
    ]
    folder = Path(load.folder) if load.folder is not None else None
    modules = Path(load.modules) if load.modules is not None else None
    found, _ = loader.load(Path(load.path), folder, load.entry, modules)
    arguments = [tensors.argument_of(spec, storages) for spec in call.arguments]
    return bound(forms.entry_of(found, load.form, fp4=load.fp4), arguments)()


def _contents(arena: protocol.ArenaSpec) -> list[bytes]:
    """The bytes of each storage of the file."""
    with Path(arena.path).open("rb") as file:
        return [os.pread(file.fileno(), spec.bytes, spec.offset) for spec in arena.storages]


if __name__ == "__main__":
    main()
