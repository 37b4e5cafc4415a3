"""The measured peaks of each device, kept between runs: one JSON file for each device and software.

A peak depends on the device, its driver and the versions of torch and its libraries: peaks measured with others are
never used.  The folder is the caller's.  A file that cannot be read or has impossible content is ignored with a
warning; it is never repaired, only replaced by a measurement.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable
from pathlib import Path

import msgspec

from engine.atomic_files import write_atomically
from engine.model.benchmark import Peaks
from engine.sandbox.untrusted_files import UntrustedFileError, read_untrusted

_LARGEST_BYTES = 1 << 16
_NAME_CHARACTERS = 40


def peaks_path(folder: Path, device_name: str, driver: str, versions: str) -> Path:
    """Path of the stored peaks of this device under this software: its name, readable, and a hash of all three."""
    readable = re.sub(r"[^A-Za-z0-9]+", "-", device_name).strip("-")[:_NAME_CHARACTERS]
    identity = msgspec.json.encode([device_name, driver, versions])
    return folder / f"peaks-{readable}-{hashlib.sha256(identity).hexdigest()[:16]}.json"


def read_peaks(
    folder: Path, device_name: str, driver: str, versions: str, *, warn: Callable[[str], None]
) -> Peaks | None:
    """The peaks that `write_peaks` stored, or None; `warn` gets the reason why an existing file is not used."""
    path = peaks_path(folder, device_name, driver, versions)
    if not path.exists():
        return None
    try:
        peaks = msgspec.json.decode(read_untrusted(path, max_bytes=_LARGEST_BYTES), type=Peaks)
        _refuse_impossible(peaks)
        found = (peaks.device_name, peaks.driver, peaks.versions)
        if found != (device_name, driver, versions):
            raise ValueError(f"they were measured on {' / '.join(found)}")
    except (UntrustedFileError, ValueError, msgspec.MsgspecError, RecursionError) as error:
        warn(f"{path}: the stored peaks of {device_name} are not used: {error}; they will be measured again")
        return None
    return peaks


def write_peaks(folder: Path, peaks: Peaks) -> Path:
    """Store `peaks` in place of older ones and return the path.  Readers get the old file or the new one.

    Raises:
        ValueError: a rate that is not finite and above zero.
        OSError: the folder cannot be created or written.
    """
    _refuse_impossible(peaks)
    path = peaks_path(folder, peaks.device_name, peaks.driver, peaks.versions)
    content = msgspec.json.encode(peaks, enc_hook=dict)  # the mapping of a record is a read-only view
    write_atomically(path, content)
    return path


def _refuse_impossible(peaks: Peaks) -> None:
    rates = {"copy_bytes_per_s": peaks.copy_bytes_per_s, **peaks.flops_per_s}
    for name, rate in rates.items():
        if not (math.isfinite(rate) and rate > 0):
            raise ValueError(f"{name} should be finite and above zero, is {rate}")
