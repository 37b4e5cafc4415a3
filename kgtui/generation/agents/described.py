"""External coding agents as data: JSON files here, or in the user's folder `agents` beside the settings file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from engine.errors import UsageError
from sessions.candidates.generation_rows import TokenUsage

FOLDER = Path(__file__).with_name("known")
TASK_PLACE = "{task}"


class AgentDescription(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How an agent is started and what it reports.

    `{task}` in `command` becomes the sentence that names the task's file.  It sees PATH, HOME, LANG and `variables` of
    the environment.  `input_tokens` and `output_tokens` are patterns whose last match in its output has the count.
    """

    command: tuple[str, ...]
    variables: tuple[str, ...] = ()
    input_tokens: str = ""
    output_tokens: str = ""

    def usage(self, output: str) -> TokenUsage | None:
        """The tokens that it reports; None unless both are there."""
        counts = [_last(pattern, output) for pattern in (self.input_tokens, self.output_tokens)]
        if counts[0] is None or counts[1] is None:
            return None
        return TokenUsage(input_tokens=counts[0], output_tokens=counts[1])


def read_agent(name: str, folders: Sequence[Path]) -> AgentDescription:
    """The description of the agent called `name`; the first folder that has one counts.

    Raises:
        UsageError: there is none, or it is broken.
    """
    for folder in folders:
        path = folder / f"{name}.json"
        try:
            return msgspec.json.decode(path.read_bytes(), type=AgentDescription)
        except FileNotFoundError:
            continue
        except (OSError, msgspec.DecodeError) as error:
            raise UsageError(f"{path} describes no agent: {error}") from error
    known = sorted({path.stem for folder in folders for path in folder.glob("*.json")})
    raise UsageError(f"unknown agent {name[:40]!r}; described are {', '.join(known)}")


def _last(pattern: str, output: str) -> int | None:
    found = re.findall(pattern, output) if pattern else []
    return int(float(found[-1])) if found else None
