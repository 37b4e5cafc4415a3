"""Shared parts of the providers with an HTTP client: the key, and error messages without it."""

from __future__ import annotations

import contextlib
import email.utils
import ipaddress
import urllib.parse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from engine.errors import UsageError
from kgtui.generation.records import ConnectionCutError, ModelName, ProviderError
from kgtui.generation.redaction import redacted

_MOST_MESSAGE = 300
_RETRIED_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_ADVICE = {
    401: "check the key in {variable}",
    403: "the key in {variable} has no access to this model",
    404: "check the name of the model and the base URL",
    413: "the prompt is too long for this model",
    429: "lower --concurrency, or try again later",
    500: "try again later",
    503: "try again later",
    529: "try again later",
}
_NO_QUOTA = "insufficient_quota"  # with the status of a rate limit, but a later request is refused, too
_QUOTA_ADVICE = "check the plan and the balance of the account"
_UNKNOWN_SERVICE = "check the base URL: the error has no message, so this may be another kind of service"


def key_from(environment: Mapping[str, str], variable: str, *, base_url: str | None) -> str:
    """The key from the environment; it is optional for a server on this machine.

    Raises:
        UsageError: it is not set, or cannot be sent.
    """
    key = environment.get(variable, "").strip()
    if not (key.isascii() and key.isprintable()):  # a header of HTTP
        raise UsageError(f"{variable} holds a line break or a character outside of ASCII; export the key alone")
    if key:
        return key
    if base_url is not None and _is_local(base_url):
        return "none"
    raise UsageError(f"{variable} is not set: export it with your key, or name a local server as PROVIDER:MODEL@URL")


@dataclass(kw_only=True)
class AnswerProgress:
    """One request; `is_accepted` once a stream of events begins, `is_open` once an answer, which is charged, does."""

    is_accepted: bool = False
    is_open: bool = False


@dataclass(frozen=True, kw_only=True)
class Service:
    """A service over HTTP: its name, the variable of its key, the key, and its base URL."""

    name: str
    variable: str
    key: str
    base_url: str

    @contextlib.contextmanager
    def errors_in_our_words(
        self, *, status_error: type[Exception], client_error: type[Exception]
    ) -> Iterator[AnswerProgress]:
        """Context in which errors of the client become kgtui's, without the key in them.

        Raises:
            ConnectionCutError: the answer broke off.
            ProviderError: there is no answer.
        """
        exchange = AnswerProgress()
        try:
            yield exchange
        except ProviderError:
            raise
        except status_error as error:
            refused = self.refused(error)
            # An error event inside of an answer has the status of the stream, 200.
            raise (ConnectionCutError(str(refused)) if exchange.is_open else refused) from None
        except Exception as error:  # boundary to client and transport, whose errors have no common base class
            if not exchange.is_accepted and not isinstance(error, client_error):
                raise  # an error of kgtui, not of the service
            raise self._broken(error, exchange) from None

    def refused(self, error: Any) -> ProviderError:  # Any: the status error of either client has the same members
        """The error for a response that is not an answer."""
        status, headers = error.status_code, error.response.headers
        said = shortened(redacted(_field_of(error.body, "message"), self.key))
        advice = _ADVICE.get(status, "" if said else _UNKNOWN_SERVICE).format(variable=self.variable)
        is_quota = _field_of(error.body, "code") == _NO_QUOTA
        if is_quota:
            advice = _QUOTA_ADVICE
        sentence = f"{self.name} answered {status}"
        if said:
            sentence += (f" ({advice})" if advice else "") + f": {said}"
        return ProviderError(
            sentence if said or not advice else f"{sentence}; {advice}",
            status=status,
            retries=status in _RETRIED_STATUS and not is_quota,
            retry_after_s=retry_after_seconds(headers.get("retry-after"), date=headers.get("date")),
        )

    def _broken(self, error: Exception, exchange: AnswerProgress) -> ProviderError:
        detail = shortened(redacted(str(error) or type(error).__name__, self.key))
        if exchange.is_open:
            return ConnectionCutError(f"the answer of {self.name} broke off: {detail}")
        if exchange.is_accepted:
            return ProviderError(f"{self.name} sent a stream without a valid event (check the base URL): {detail}")
        server = urllib.parse.urlsplit(self.base_url).netloc.rpartition("@")[2]
        sentence = f"{self.name} at {server} cannot be reached or does not answer (check the base URL): {detail}"
        return ProviderError(sentence, retries=True)


def service_of(
    name: str,
    model: ModelName,
    environment: Mapping[str, str],
    *,
    variable: str,
    url_variable: str,
    default_url: str,
) -> Service:
    """The service of a model: its base URL is that of the model, else of the environment, else the default.

    Raises:
        UsageError: the key is not set, or one of the two cannot be used.
    """
    base_url = model.base_url or environment.get(url_variable) or None
    if base_url is not None and not _is_url(base_url):
        raise UsageError(f"{base_url[:80]!r} is not a base URL; expected http://HOST:PORT/PATH or https://HOST/PATH")
    key = key_from(environment, variable, base_url=base_url)
    return Service(name=name, variable=variable, key=key, base_url=base_url or default_url)


def refuse_other_content(content_type: str, *, provider: str) -> None:
    """Raise unless the content is a stream of events.

    Raises:
        ProviderError: it is something else, such as an HTML page.
    """
    if "event-stream" not in content_type:
        kind = shortened(content_type) or "no content type"
        raise ProviderError(f"{provider} answered with {kind} instead of a stream of events; check the base URL")


def _field_of(body: object, name: str) -> str:
    """A text of a JSON error of either service, {"error": {"message": ...}} or its inner part; "" without one."""
    inner = body.get("error", body) if isinstance(body, dict) else None
    text = inner.get(name) if isinstance(inner, dict) else None
    return text if isinstance(text, str) else ""


def retry_after_seconds(value: str | None, *, date: str | None = None) -> float | None:
    """The seconds of a `retry-after` header: a number, or a time; None if missing or unreadable.

    A time counts from the `date` header of the same response, because the clock of this machine may be wrong.
    """
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        moment = _moment(value)
        if moment is None:
            return None
        seconds = (moment - (_moment(date or "") or datetime.now(UTC))).total_seconds()
    return seconds if 0 <= seconds < float("inf") else None


def _moment(text: str) -> datetime | None:
    """The time in a header of HTTP, which is in UTC; None if unreadable."""
    try:
        moment = email.utils.parsedate_to_datetime(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def shortened(detail: str) -> str:
    """One line of at most 300 characters."""
    line = " ".join(detail.split())
    return line if len(line) <= _MOST_MESSAGE else f"{line[:_MOST_MESSAGE]}..."


def _is_url(text: str) -> bool:
    try:
        parts = urllib.parse.urlsplit(text)
        port = parts.port
    except ValueError:  # brackets of an IPv6 address, or a port that is no number below 65536
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and port != 0 and text.isprintable()


def _is_local(base_url: str) -> bool:
    host = urllib.parse.urlsplit(base_url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
