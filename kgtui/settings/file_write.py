"""Writes the settings file."""

from __future__ import annotations

from engine.errors import UsageError
from kgtui.files import disk
from kgtui.settings.schema import Config


def write_config(config: Config) -> None:
    """Write the text of the settings; creates the folder if needed.

    Raises:
        UsageError: it cannot be written.
    """
    try:
        config.path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{config.path.parent} cannot be created: {error.strerror}") from error
    disk.write(config.path, (config.text or "").encode())
