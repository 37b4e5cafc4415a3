"""The real client libraries against a local server that has every fault: what comes of an answer."""

from __future__ import annotations

import asyncio
import contextlib
import email.utils
import traceback
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from engine.errors import UsageError
from kgtui.generation.providers import open_provider, provider_module, provider_names
from kgtui.generation.records import (
    AnswerEnded,
    CompletionRequest,
    ConnectionCutError,
    Effort,
    Message,
    ModelName,
    ProviderError,
    Role,
    Sampling,
    TextArrived,
    parse_model,
)
from sessions.candidates.generation_rows import Stop, TokenUsage
from tests.kgtui.generation.wire_server import PIECES, TEXT, Reply, WireServer

KEY = "sk-test-0123456789abcdef"
ENVIRONMENT = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}
NO_QUOTA = Reply(
    status=429,
    content_type="application/json",
    body='{"error": {"message": "no credit", "code": "insufficient_quota"}}',
)
REQUEST = CompletionRequest(
    model="m",
    messages=(Message(role=Role.SYSTEM, text="be brief"), Message(role=Role.USER, text="a kernel")),
    sampling=Sampling(max_tokens=100),
    key="kgtui/1/op/m/sample-1",
)
OPENAI_USAGE = TokenUsage(input_tokens=120, cached_tokens=100, output_tokens=40, reasoning_tokens=15)
ANTHROPIC_USAGE = TokenUsage(input_tokens=120, cached_tokens=100, output_tokens=40, cache_write_tokens=5)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of a request."""

    text: str = ""
    stop: Stop | None = None
    usage: TokenUsage | None = None
    error: ProviderError | None = None


@pytest.fixture(params=["openai", "anthropic"])
def protocol(request):
    return request.param


async def outcome_of(protocol, *replies, request=REQUEST, server=None):
    """Send one request to a server with this script."""
    async with server or WireServer(script=list(replies)) as running:
        base = f"{running.url}/v1" if protocol == "openai" else running.url
        provider = open_provider(ModelName(provider=protocol, model="m", base_url=base), ENVIRONMENT)
        text, end, error = "", None, None
        with contextlib.suppress(ProviderError):
            try:
                async with contextlib.aclosing(provider.stream(request)) as chunks:
                    async for chunk in chunks:
                        if isinstance(chunk, TextArrived):
                            text += chunk.text
                        else:
                            end = chunk
            except ProviderError as raised:
                error = raised
                raise
        await provider.aclose()
    assert end is None or isinstance(end, AnswerEnded)
    return Outcome(text=text, stop=end.stop if end else None, usage=end.usage if end else None, error=error)


def usage_of(protocol):
    return OPENAI_USAGE if protocol == "openai" else ANTHROPIC_USAGE


@pytest.mark.parametrize(
    ("reply", "stop", "has_usage"),
    [
        pytest.param(Reply(), Stop.COMPLETE, True, id="whole"),
        pytest.param(Reply(has_tool_use=True), Stop.COMPLETE, True, id="tool use is ignored"),
        pytest.param(Reply(stops_at_length=True), Stop.LENGTH, True, id="limit of tokens"),
        pytest.param(Reply(has_usage=False), Stop.COMPLETE, False, id="usage missing"),
        pytest.param(Reply(drips=True), Stop.COMPLETE, True, id="slow drip"),
        pytest.param(Reply(has_end=False), Stop.CUT, False, id="no end"),
    ],
)
async def test_an_answer_is_read_to_its_end(protocol, reply, stop, has_usage):
    found = await outcome_of(protocol, reply)
    expected = usage_of(protocol) if has_usage else None
    assert (found.text, found.stop, found.usage, found.error) == (TEXT, stop, expected, None)


async def test_a_tool_call_without_text_is_reported(protocol):
    ends = []

    async def collect(provider):
        async with contextlib.aclosing(provider.stream(REQUEST)) as chunks:
            ends.extend([chunk async for chunk in chunks])

    for reply in (Reply(has_tool_use=True, pieces=()), Reply(pieces=())):
        async with WireServer(script=[reply]) as running:
            base = f"{running.url}/v1" if protocol == "openai" else running.url
            provider = open_provider(ModelName(provider=protocol, model="m", base_url=base), ENVIRONMENT)
            await collect(provider)
            await provider.aclose()
    assert [end.calls_tool for end in ends] == [True, False]


async def test_a_stream_without_valid_event_is_an_error(protocol):
    found = await outcome_of(protocol, Reply(is_malformed=True))
    assert type(found.error) is ProviderError
    assert "sent a stream without a valid event" in str(found.error)
    assert not found.error.retries


@pytest.mark.parametrize(
    "reply", [Reply(cut_after=3), Reply(malformed_after=3)], ids=["cut connection", "malformed chunk"]
)
async def test_an_answer_that_breaks_off_keeps_its_text(protocol, reply):
    found = await outcome_of(protocol, reply)
    assert found.text == "".join(PIECES[:3])
    assert isinstance(found.error, ConnectionCutError)
    assert not found.error.retries


@pytest.mark.parametrize(
    ("reply", "status", "retries", "retry_after_s", "words"),
    [
        (
            Reply(status=429, headers=(("retry-after", "7"),), body="{}"),
            429,
            True,
            7.0,
            " answered 429; lower --concurrency, or try again later",
        ),
        (Reply(status=500, body="{}"), 500, True, None, " answered 500; try again later"),
        (Reply(status=529, body="{}"), 529, True, None, " answered 529; try again later"),
        (Reply(status=401, body="{}"), 401, False, None, " answered 401; check the key in {variable}"),
        (Reply(status=404, body="{}"), 404, False, None, " answered 404; check the name of the model and the base URL"),
        (Reply(status=400, body='{"error": {"message": "too hot"}}'), 400, False, None, " answered 400: too hot"),
        (
            Reply(status=400, body="{}"),
            400,
            False,
            None,
            " answered 400; check the base URL: the error has no message, so this may be another kind of service",
        ),
        (NO_QUOTA, 429, False, None, " answered 429 (check the plan and the balance of the account): no credit"),
        (Reply(content_type="text/html", body="<html>"), None, False, None, "check the base URL"),
    ],
    ids=["429", "500", "529", "wrong key", "unknown model", "refused", "unknown service", "no quota", "HTML"],
)
async def test_refusal_states_next_step(protocol, reply, status, retries, retry_after_s, words):
    error = (await outcome_of(protocol, reply)).error
    assert error is not None
    assert (error.status, error.retries, error.retry_after_s) == (status, retries, retry_after_s)
    assert str(error).endswith(words.format(variable=f"{protocol.upper()}_API_KEY"))


@pytest.mark.parametrize("answered", ["Sat, 28 Nov 2026 08:00:00 GMT", "Thu, 01 Jan 1970 00:00:10 GMT"])
async def test_retry_after_date_counts_from_servers_date(protocol, answered):
    moment = email.utils.parsedate_to_datetime(answered)
    retry_after = email.utils.format_datetime(moment + timedelta(seconds=7), usegmt=True)
    headers = (("date", answered), ("retry-after", retry_after))
    error = (await outcome_of(protocol, Reply(status=429, headers=headers, body="{}"))).error
    assert error is not None
    assert error.retry_after_s == 7.0


async def test_missing_server_is_reported_and_retryable(protocol):
    async with WireServer() as server:
        url = server.url
    provider = open_provider(ModelName(provider=protocol, model="m", base_url=url), ENVIRONMENT)
    with pytest.raises(ProviderError, match="cannot be reached") as caught:
        await anext(provider.stream(REQUEST))
    assert caught.value.retries


async def test_a_huge_answer_is_cut(protocol):
    found = await outcome_of(protocol, Reply(pieces=["x" * 400_000] * 6))
    assert found.stop is Stop.LENGTH
    assert len(found.text) == 2_400_000


async def test_request_carries_chosen_parameters(protocol):
    server = WireServer()
    sampling = Sampling(max_tokens=50, temperature=0.5, effort=Effort.LOW)
    await outcome_of(protocol, request=replace(REQUEST, sampling=sampling), server=server)
    (received,) = server.received
    assert received.headers["idempotency-key"] == REQUEST.key
    expected = (
        {"max_completion_tokens": 50, "temperature": 0.5, "reasoning_effort": "low", "stream": True}
        if protocol == "openai"
        else {"max_tokens": 50, "temperature": 0.5, "output_config": {"effort": "low"}, "stream": True}
    )
    assert {name: received.body[name] for name in expected} == expected


async def test_anthropic_caches_system_and_problem():
    server = WireServer()
    await outcome_of("anthropic", server=server)
    body = server.received[0].body
    assert [block["cache_control"] for block in (*body["system"], *body["messages"][0]["content"])] == [
        {"type": "ephemeral"}
    ] * 2


async def test_a_cancelled_request_closes_its_connection(protocol):
    async with WireServer(gate=asyncio.Event()) as server:
        base = f"{server.url}/v1" if protocol == "openai" else server.url
        provider = open_provider(ModelName(provider=protocol, model="m", base_url=base), ENVIRONMENT)
        chunks = provider.stream(REQUEST)
        assert await anext(chunks) == TextArrived(text=PIECES[0])
        await chunks.aclose()
        await provider.aclose()
        server.gate.set()


class TestSecrets:
    @pytest.mark.parametrize("status", [401, 200])
    async def test_a_key_that_the_server_repeats_is_removed(self, protocol, status):
        half = len(KEY) // 2
        reply = (
            Reply(status=401, body=f'{{"error":{{"message":"bad key {KEY}"}}}}')
            if status == 401
            else Reply(pieces=["the key is ", KEY[:half], KEY[half:], " and more"])
        )
        found = await outcome_of(protocol, reply)
        shown = found.text + str(found.error)
        if found.error is not None:
            shown += "".join(traceback.format_exception(found.error))
        assert KEY not in shown
        assert "[key]" in shown

    def test_a_missing_key_is_named(self, protocol):
        with pytest.raises(UsageError, match=f"{provider_module(protocol).KEY_VARIABLE} is not set"):
            open_provider(ModelName(provider=protocol, model="m"), {})

    @pytest.mark.parametrize("key", ["sk-schlüssel", "sk-a\nb", "sk-a\x7fb"])
    def test_unsendable_key_is_named_not_shown(self, protocol, key):
        variable = provider_module(protocol).KEY_VARIABLE
        with pytest.raises(UsageError, match=f"^{variable} holds a line break or a character") as refused:
            open_provider(ModelName(provider=protocol, model="m"), {variable: key})
        assert "sk-" not in str(refused.value)

    def test_a_local_server_needs_no_key(self, protocol):
        open_provider(ModelName(provider=protocol, model="m", base_url="http://127.0.0.1:1"), {})


@pytest.mark.parametrize("url", ["http://[::1", "http://127.0.0.1:99999/v1", "http://h:x/", "http://", "http://h:0"])
def test_base_url_that_is_none_is_refused(protocol, url):
    with pytest.raises(UsageError, match="is not a base URL"):
        open_provider(ModelName(provider=protocol, model="m", base_url=url), ENVIRONMENT)


def test_base_url_of_the_environment_is_checked():
    with pytest.raises(UsageError, match="'localhost:8000' is not a base URL"):
        open_provider(ModelName(provider="openai", model="m"), {**ENVIRONMENT, "OPENAI_BASE_URL": "localhost:8000"})


def test_every_provider_is_found():
    assert provider_names() == ("agent", "anthropic", "openai", "replay")
    assert [provider_module(name).NAME for name in provider_names()] == list(provider_names())


@pytest.mark.parametrize("text", ["m", ":m", "openai:", "openai:m@ftp://x", "", "openai:a\nb", "openai:\x1b[31m"])
def test_invalid_model_name_is_refused(text):
    with pytest.raises(UsageError):
        parse_model(text)


def test_a_model_with_a_base_url_is_parsed():
    assert parse_model("openai:a/b@http://localhost:8000/v1") == ModelName(
        provider="openai", model="a/b", base_url="http://localhost:8000/v1"
    )
