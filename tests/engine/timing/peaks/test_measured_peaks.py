"""Peaks come back as they were written, for the same device and software only, or not at all."""

from __future__ import annotations

import dataclasses
import json
import math
import os
from pathlib import Path

import pytest

from engine.model.benchmark import Peaks
from engine.timing.peaks.measured_peaks import peaks_path, read_peaks, write_peaks

PEAKS = Peaks(
    device_name="NVIDIA H100 80GB HBM3",
    driver="580.65.06",
    versions="torch 2.11.0+cu130",
    copy_bytes_per_s=2.5e12,
    flops_per_s={"float32": 5e13, "bfloat16": 7e14},
    measured_at="2025-01-01T00:00:00Z",
)
KEY = (PEAKS.device_name, PEAKS.driver, PEAKS.versions)


@pytest.fixture
def warnings() -> list[str]:
    return []


def stored(folder: Path) -> Path:
    return peaks_path(folder, *KEY)


def test_written_peaks_are_read_unchanged(tmp_path: Path, warnings: list[str]) -> None:
    path = write_peaks(tmp_path, PEAKS)
    assert path == stored(tmp_path)
    assert read_peaks(tmp_path, *KEY, warn=warnings.append) == PEAKS
    assert warnings == []


def test_folder_is_made_on_first_write(tmp_path: Path) -> None:
    assert write_peaks(tmp_path / "a" / "b", PEAKS).is_file()


def test_reading_makes_no_folder(tmp_path: Path, warnings: list[str]) -> None:
    assert read_peaks(tmp_path / "absent", *KEY, warn=warnings.append) is None
    assert (warnings, list(tmp_path.iterdir())) == ([], [])


def test_unmeasured_device_has_no_peaks_and_no_message(tmp_path: Path, warnings: list[str]) -> None:
    assert read_peaks(tmp_path, *KEY, warn=warnings.append) is None
    assert warnings == []


@pytest.mark.parametrize("place", [0, 1, 2])
def test_peaks_are_keyed_by_device_driver_and_version(place: int, tmp_path: Path, warnings: list[str]) -> None:
    write_peaks(tmp_path, PEAKS)
    other = [*KEY[:place], "other", *KEY[place + 1 :]]
    assert read_peaks(tmp_path, *other, warn=warnings.append) is None
    assert warnings == []


def test_joined_words_give_different_keys(tmp_path: Path) -> None:
    assert peaks_path(tmp_path, "a", "bc", "d") != peaks_path(tmp_path, "a", "b", "cd")
    assert peaks_path(tmp_path, "a!", "b", "c") != peaks_path(tmp_path, "a", "!b", "c")
    assert peaks_path(tmp_path, "a b", "c", "d") != peaks_path(tmp_path, "a/b", "c", "d")


@pytest.mark.parametrize("device_name", ["../../etc/passwd", "a/b", "", ".", "…", "x" * 500, "nul\0name"])
def test_peaks_path_stays_in_folder(device_name: str, tmp_path: Path) -> None:
    path = peaks_path(tmp_path, device_name, "1", "2")
    assert path.parent == tmp_path
    assert path.name.isascii()
    assert len(path.name) < 100


def test_the_file_name_can_be_read_by_people(tmp_path: Path) -> None:
    assert stored(tmp_path).name.startswith("peaks-NVIDIA-H100-80GB-HBM3-")


def test_new_peaks_replace_old_without_leftovers(tmp_path: Path, warnings: list[str]) -> None:
    write_peaks(tmp_path, PEAKS)
    newer = dataclasses.replace(PEAKS, copy_bytes_per_s=2.6e12)
    write_peaks(tmp_path, newer)
    assert read_peaks(tmp_path, *KEY, warn=warnings.append) == newer
    assert list(tmp_path.iterdir()) == [stored(tmp_path)]


def test_reader_keeps_old_file_during_replacement(tmp_path: Path) -> None:
    with write_peaks(tmp_path, PEAKS).open("rb") as reader:
        write_peaks(tmp_path, dataclasses.replace(PEAKS, copy_bytes_per_s=1.0))
        assert json.loads(reader.read())["copy_bytes_per_s"] == 2.5e12


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"\xff\xfe",
        b"{}",
        b'{"device_name": 1}',
        b"[" * 50_000,
        b'{"device_name":"x","more":' + b"[" * 50_000,
        b" " * 70_000,
    ],
)
def test_damaged_peaks_file_is_ignored_with_warning(content: bytes, tmp_path: Path, warnings: list[str]) -> None:
    stored(tmp_path).write_bytes(content)
    assert read_peaks(tmp_path, *KEY, warn=warnings.append) is None
    (warning,) = warnings
    assert warning.startswith(f"{stored(tmp_path)}: the stored peaks of {PEAKS.device_name} are not used: ")
    assert warning.endswith("; they will be measured again")


@pytest.mark.parametrize("cut", range(1, 200, 13))
def test_truncated_file_is_ignored_and_reported(cut: int, tmp_path: Path, warnings: list[str]) -> None:
    path = write_peaks(tmp_path, PEAKS)
    path.write_bytes(path.read_bytes()[:-cut])
    assert read_peaks(tmp_path, *KEY, warn=warnings.append) is None
    assert len(warnings) == 1


@pytest.mark.parametrize("rate", ["0", "-1", "null", '"fast"', "1e999"])
@pytest.mark.parametrize("name", ["copy_bytes_per_s", "bfloat16"])
def test_impossible_rate_is_ignored_and_reported(name: str, rate: str, tmp_path: Path, warnings: list[str]) -> None:
    path = write_peaks(tmp_path, PEAKS)
    whole = path.read_text()
    number = {"copy_bytes_per_s": "2500000000000.0", "bfloat16": "700000000000000.0"}[name]
    assert number in whole
    path.write_text(whole.replace(number, rate))
    assert read_peaks(tmp_path, *KEY, warn=warnings.append) is None
    assert len(warnings) == 1


def test_file_of_another_device_is_ignored_and_reported(tmp_path: Path, warnings: list[str]) -> None:
    other = write_peaks(tmp_path, dataclasses.replace(PEAKS, device_name="other"))
    other.rename(stored(tmp_path))
    assert read_peaks(tmp_path, *KEY, warn=warnings.append) is None
    assert "they were measured on other / 580.65.06 / torch 2.11.0+cu130" in warnings[0]


@pytest.mark.parametrize("kind", ["folder", "pipe", "link"])
def test_nonfile_is_ignored_and_reported(kind: str, tmp_path: Path, warnings: list[str]) -> None:
    path = stored(tmp_path)
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(tmp_path)
    assert read_peaks(tmp_path, *KEY, warn=warnings.append) is None
    assert len(warnings) == 1


@pytest.mark.parametrize("rate", [0.0, -1.0, math.nan, math.inf])
def test_peaks_that_cannot_be_are_never_written(rate: float, tmp_path: Path) -> None:
    for peaks in (
        dataclasses.replace(PEAKS, copy_bytes_per_s=rate),
        dataclasses.replace(PEAKS, flops_per_s={"tf32": rate}),
    ):
        with pytest.raises(ValueError, match=f"should be finite and above zero, is {rate}"):
            write_peaks(tmp_path, peaks)
    assert list(tmp_path.iterdir()) == []


def test_a_device_without_measured_products_keeps_its_bandwidth(tmp_path: Path, warnings: list[str]) -> None:
    bare = dataclasses.replace(PEAKS, flops_per_s={})
    write_peaks(tmp_path, bare)
    assert read_peaks(tmp_path, *KEY, warn=warnings.append) == bare


def test_unwritable_folder_is_error_without_leftovers(tmp_path: Path) -> None:
    stored(tmp_path).mkdir()
    (stored(tmp_path) / "occupied").touch()
    with pytest.raises(OSError, match="directory"):
        write_peaks(tmp_path, PEAKS)
    assert list(tmp_path.iterdir()) == [stored(tmp_path)]
