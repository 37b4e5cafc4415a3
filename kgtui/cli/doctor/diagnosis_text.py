"""The diagnosis as text, one fact per line."""

from __future__ import annotations

from engine.devices import Device
from engine.devices.hardware.targets import DEFAULT_TARGET
from engine.reports.printable import printable
from kgtui.cli.doctor.device_condition import condition_lines
from kgtui.cli.doctor.diagnosis import Diagnosis
from kgtui.settings.preferences import setting_line
from kgtui.settings.schema import toml
from kgtui.state.doctor import CHECKING_CONFINEMENT


def diagnosis_lines(diagnosis: Diagnosis) -> list[str]:
    """The diagnosis as text, one fact per line."""
    return [*machine_lines(diagnosis), *confinement_lines(diagnosis), *settings_lines(diagnosis)]


def machine_lines(diagnosis: Diagnosis) -> list[str]:
    """System, devices and versions."""
    lines = [f"system       {diagnosis.system}"]
    condition_by_place = {(condition.platform, condition.index): condition for condition in diagnosis.conditions}
    for device in diagnosis.devices:
        lines.append(f"device       {_device(device)}")
        if condition := condition_by_place.get((device.platform, device.index)):
            lines += [f"             {printable(line)}" for line in condition_lines(condition)]
    if len(diagnosis.devices) == 1:
        lines.append("             no GPU was found: kernels are verified on the CPU, and nothing is timed")
    absent = {"kgtui": f"not installed, running from {printable(diagnosis.running_from)}"}
    lines += [
        f"version      {name} {version or absent.get(name, 'not installed')}"
        for name, version in diagnosis.versions.items()
    ]
    return lines


def confinement_lines(diagnosis: Diagnosis) -> list[str]:
    """How candidates are sandboxed, or why that is unknown."""
    if diagnosis.trouble is not None:
        return [f"engine       cannot be started: {diagnosis.trouble}"]
    if diagnosis.confinement is None:
        return [CHECKING_CONFINEMENT]
    return [
        *(f"confinement  {measure}" for measure in diagnosis.confinement or ("none",)),
        *(f"confinement  NOT IN FORCE: {measure}" for measure in diagnosis.missing_confinement),
    ]


def settings_lines(diagnosis: Diagnosis) -> list[str]:
    """The terminal, paths and settings."""
    terminal, lines = diagnosis.terminal, []
    size = f", {terminal.columns}x{terminal.rows}" if terminal.columns else ""
    if terminal.is_terminal:
        kind = f"{terminal.term or 'TERM is not set'}{size}, colours: {terminal.colours}"
    else:
        kind = "none; the workbench needs one, `kgtui check` does not"
    lines.append(f"terminal     {kind}, encoding {terminal.encoding}")
    if terminal.inside:
        lines.append(f"             inside {', '.join(terminal.inside)}")
    lines += [
        f"path         {name}: {place.path}{'' if place.writable else '  (NOT WRITABLE)'}"
        for name, place in diagnosis.places.items()
    ]
    found = _detected(diagnosis)
    lines += [f"setting      {setting_line(one, found=found.get(one.key, ''))}" for one in diagnosis.settings]
    lines += [f"setting      {name:<15} {keys}" for name, keys in diagnosis.bindings.items()]
    lines += [f"setting      NOT USED: {printable(mistake)}" for mistake in diagnosis.mistakes]
    return lines


def _detected(diagnosis: Diagnosis) -> dict[str, str]:
    """The device that candidates run on and the target of their launches, where no setting names them."""
    chosen = next((one.value for one in diagnosis.settings if one.key == "device"), None)
    device = next((one for one in diagnosis.devices if one.platform == chosen), diagnosis.devices[0])
    return {"device": toml(device.platform), "target": toml(device.target or DEFAULT_TARGET)}


def _device(device: Device) -> str:
    facts = [f"{device.platform} {device.index}: {device.name}"]
    if device.target:
        facts.append(device.target)
    if device.memory_bytes is not None:
        facts.append(f"{device.memory_bytes / 2**30:.0f} GiB")
    if device.driver:
        facts.append(f"driver {device.driver}")
    return ", ".join(facts)
