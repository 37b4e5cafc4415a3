"""Paths of kgtui's files.

One folder for the user's data and one for the configuration, by the system's conventions, or KGTUI_HOME for both.
Nothing is created here; folders are created on first use.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.errors import UsageError

HOME_VARIABLE = "KGTUI_HOME"
CONFIG_NAME = "config.toml"


@dataclass(frozen=True, kw_only=True)
class Paths:
    """`data` has the session store and the compiled code of its runs.
    `config` is the user's settings file, which only the user creates.
    """

    data: Path
    config: Path

    @property
    def sessions(self) -> Path:
        """The session store."""
        return self.data / "sessions.db"

    @property
    def artefacts(self) -> Path:
        """Compiled code, by the hash of its content."""
        return self.data / "artefacts"

    @property
    def descriptions(self) -> Path:
        """Cache of the descriptions in problem files; it may be deleted."""
        return self.data / "descriptions.json"

    @property
    def prices(self) -> Path:
        """The user's own prices of language models."""
        return self.config.parent / "prices.toml"

    @property
    def prompts(self) -> Path:
        """The folder of the user's own prompt templates."""
        return self.config.parent / "prompts"

    @property
    def peaks(self) -> Path:
        """Measured peaks of this machine's devices, a file for each."""
        return self.data / "peaks"


def find_paths(environment: Mapping[str, str]) -> Paths:
    """The user's folders: KGTUI_HOME if it is set, else $XDG_DATA_HOME/kgtui and $XDG_CONFIG_HOME/kgtui, else
    ~/.local/share/kgtui and ~/.config/kgtui.
    """
    if home := environment.get(HOME_VARIABLE):
        folder = with_home(home, said_by=HOME_VARIABLE).absolute()
        return Paths(data=folder, config=folder / CONFIG_NAME)
    import platformdirs  # imported late: it reads the process's environment

    return Paths(
        data=platformdirs.user_data_path("kgtui", appauthor=False),
        config=platformdirs.user_config_path("kgtui", appauthor=False) / CONFIG_NAME,
    )


def with_home(name: str, *, said_by: str) -> Path:
    """The path with `~` expanded.

    Raises:
        UsageError: the home folder of the named user is unknown.
    """
    try:
        return Path(name).expanduser()
    except RuntimeError as error:
        user = Path(name).parts[0]
        raise UsageError(f"{said_by}={name}: no home folder is known for {user}; use an absolute path") from error


def can_write(path: Path) -> bool:
    """Whether `path` can be written, or created in its nearest existing parent folder."""
    place = path
    while not os.access(place, os.F_OK, effective_ids=True) and place != place.parent:
        place = place.parent
    needed = os.W_OK | (os.X_OK if place.is_dir() else 0)
    is_usable = place == path or place.is_dir()
    return is_usable and os.access(place, needed, effective_ids=True)


def absolute(name: str | Path, folder: Path) -> Path:
    """`name` as seen from `folder`, without any `..` in it; links are not followed."""
    return Path(os.path.normpath(folder / name))
