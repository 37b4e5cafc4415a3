"""What the providers with an HTTP client share: the key, redaction, and errors in our words."""

from __future__ import annotations

import email.utils
import ipaddress
import urllib.parse
from collections.abc import Mapping
from datetime import UTC, datetime

from engine.errors import UsageError
from kgtui.generation.records import ProviderError

REDACTED = "[key]"
MOST_ANSWER_CHARACTERS = 2_000_000
"""Of one answer; what is longer is no kernel, and is cut."""

_SHORTEST_KEY = 8
_MOST_MESSAGE = 300
_RETRIED_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_ADVICE = {
    401: "check the key in {variable}",
    403: "the key in {variable} may not use this model",
    404: "check the name of the model and the base URL",
    413: "the prompt is too long for this model",
}


def key_from(environment: Mapping[str, str], variable: str, *, base_url: str | None) -> str:
    """The key in the environment; a server on this machine may do without.

    Raises:
        UsageError: it is not set.
    """
    key = environment.get(variable, "").strip()
    if key:
        return key
    if base_url is not None and _is_local(base_url):
        return "none"
    raise UsageError(f"{variable} is not set: export it with your key, or name a local server as PROVIDER:MODEL@URL")


def redacted(text: str, key: str) -> str:
    """The text without the key in it."""
    return text.replace(key, REDACTED) if len(key) >= _SHORTEST_KEY else text


class StreamRedactor:
    """Removes a key from a text that comes in pieces, also where it is divided between two of them."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._held = ""

    def take(self, piece: str) -> str:
        """What can be shown by now."""
        text = redacted(self._held + piece, self._key)
        length = min(len(self._key) - 1, len(text)) if len(self._key) >= _SHORTEST_KEY else 0
        keep = next((size for size in range(length, 0, -1) if self._key.startswith(text[-size:])), 0)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]

    def rest(self) -> str:
        """What was held back."""
        held, self._held = self._held, ""
        return held


def status_error(
    status: int, detail: str, *, provider: str, variable: str, retry_after: str | None, key: str
) -> ProviderError:
    """The error for a response that is no answer."""
    advice = _ADVICE.get(status, "").format(variable=variable)
    shown = shortened(redacted(detail, key))
    sentence = f"{provider} answered {status}: {shown}" + (f"; {advice}" if advice else "")
    return ProviderError(
        sentence, status=status, retries=status in _RETRIED_STATUS, retry_after_s=retry_after_seconds(retry_after)
    )


def refuse_other_content(content_type: str, *, provider: str) -> None:
    """Nothing for a stream of events.

    Raises:
        ProviderError: it is something else, such as the HTML of a web site.
    """
    if "event-stream" not in content_type:
        kind = shortened(content_type) or "no content type"
        raise ProviderError(f"{provider} answered with {kind} instead of a stream of events; check the base URL")


def retry_after_seconds(value: str | None, *, now: datetime | None = None) -> float | None:
    """The seconds of a `retry-after` header: a number, or a date; None without one that can be read."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            moment = email.utils.parsedate_to_datetime(value)
        except ValueError:
            return None
        seconds = (moment - (now or datetime.now(UTC))).total_seconds()
    return seconds if 0 <= seconds < float("inf") else None


def shortened(detail: str) -> str:
    """One line of at most 300 characters."""
    line = " ".join(detail.split())
    return line if len(line) <= _MOST_MESSAGE else f"{line[:_MOST_MESSAGE]}..."


def _is_local(base_url: str) -> bool:
    host = urllib.parse.urlsplit(base_url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
