"""A loopback HTTP server that speaks the protocols of OpenAI and Anthropic, with every fault that services have.

Each request takes the next `Reply` of the script; requests are kept, with their headers.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

PIECES = ("Here it is:\n", "```python\n", "def softmax(x):\n", "    return x\n", "```\n")
TEXT = "".join(PIECES)


@dataclass(frozen=True, kw_only=True)
class Reply:
    """One response; by default a complete streamed answer with usage."""

    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    content_type: str = "text/event-stream"
    body: str = ""
    pieces: Sequence[str] = PIECES
    has_usage: bool = True
    has_end: bool = True
    has_tool_use: bool = False
    stops_at_length: bool = False
    malformed_after: int | None = None
    is_malformed: bool = False
    cut_after: int | None = None
    drips: bool = False


@dataclass
class Received:
    """One request as it came."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class WireServer:
    """The server; `script` is used up from its front, its last reply again and again."""

    script: list[Reply] = field(default_factory=lambda: [Reply()])
    received: list[Received] = field(default_factory=list)
    most_at_once: int = 0
    gate: asyncio.Event | None = None
    """Where set, answers wait for it after their first piece."""
    _at_once: int = 0
    _server: asyncio.Server | None = None

    async def __aenter__(self) -> WireServer:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()

    @property
    def url(self) -> str:
        """Its base URL."""
        assert self._server is not None
        host, port = self._server.sockets[0].getsockname()
        return f"http://{host}:{port}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await _read(reader):
                self.received.append(request)
                reply = self.script.pop(0) if len(self.script) > 1 else self.script[0]
                self._at_once += 1
                self.most_at_once = max(self.most_at_once, self._at_once)
                try:
                    if not await self._answer(writer, request, reply):
                        return
                finally:
                    self._at_once -= 1
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _answer(self, writer: asyncio.StreamWriter, request: Received, reply: Reply) -> bool:
        """Whether the connection stays open."""
        is_stream = reply.status == 200 and reply.content_type == "text/event-stream"
        head = [
            f"HTTP/1.1 {reply.status} X",
            f"content-type: {reply.content_type}",
            *(f"{k}: {v}" for k, v in reply.headers),
        ]
        if not is_stream:
            body = reply.body.encode()
            writer.write("\r\n".join([*head, f"content-length: {len(body)}", "", ""]).encode() + body)
            await writer.drain()
            return True
        writer.write("\r\n".join([*head, "transfer-encoding: chunked", "", ""]).encode())
        events = _openai(reply) if request.path.endswith("/chat/completions") else _anthropic(reply)
        if reply.is_malformed:
            events = iter([("event: message_start\ndata: {this is no JSON\n\n", False)])
        sent = 0
        for event, is_text in events:
            await _write(writer, event, drips=reply.drips)
            sent += is_text
            if is_text and self.gate is not None:
                await self.gate.wait()
            if is_text and sent == reply.malformed_after:
                await _write(writer, "event: content_block_delta\ndata: {this is no JSON\n\n", drips=False)
            if is_text and sent == reply.cut_after:
                writer.transport.abort()
                return False
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True


async def _read(reader: asyncio.StreamReader) -> Received | None:
    line = (await reader.readline()).decode()
    if not line:
        return None
    headers: dict[str, str] = {}
    while header := (await reader.readline()).decode().strip():
        name, _, value = header.partition(":")
        headers[name.lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(path=line.split()[1], headers=headers, body=json.loads(body or b"{}"))


async def _write(writer: asyncio.StreamWriter, event: str, *, drips: bool) -> None:
    data = event.encode()
    for part in (data[i : i + 1] for i in range(len(data))) if drips else (data,):
        writer.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
        await writer.drain()


def _openai(reply: Reply) -> Iterator[tuple[str, bool]]:
    def chunk(delta: dict[str, object], finish: str | None = None, **extra: object) -> str:
        choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
        base = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices}
        return f"data: {json.dumps({**base, **extra})}\n\n"

    yield chunk({"role": "assistant", "content": ""}), False
    if reply.has_tool_use:
        call = {"index": 0, "id": "t", "type": "function", "function": {"name": "run", "arguments": "{}"}}
        yield chunk({"tool_calls": [call]}), False
    for piece in reply.pieces:
        yield chunk({"content": piece}), True
    if not reply.has_end:
        return
    yield chunk({}, "length" if reply.stops_at_length else "stop"), False
    if reply.has_usage:
        usage = {
            "prompt_tokens": 120, "completion_tokens": 40, "total_tokens": 160,
            "prompt_tokens_details": {"cached_tokens": 100}, "completion_tokens_details": {"reasoning_tokens": 15},
        }  # fmt: skip
        yield chunk({}, usage=usage, choices=[]), False
    yield "data: [DONE]\n\n", False


def _anthropic(reply: Reply) -> Iterator[tuple[str, bool]]:
    def event(kind: str, **values: object) -> str:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **values})}\n\n"

    started = {"input_tokens": 15, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 5, "output_tokens": 1}
    message = {
        "id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None,
        "stop_sequence": None, "usage": started if reply.has_usage else None,
    }  # fmt: skip
    yield event("message_start", message=message), False
    if reply.has_tool_use:
        block = {"type": "tool_use", "id": "t", "name": "run", "input": {}}
        yield event("content_block_start", index=0, content_block=block), False
        delta = {"type": "input_json_delta", "partial_json": "{}"}
        yield event("content_block_delta", index=0, delta=delta), False
        yield event("content_block_stop", index=0), False
    yield event("content_block_start", index=1, content_block={"type": "text", "text": ""}), False
    for piece in reply.pieces:
        yield event("content_block_delta", index=1, delta={"type": "text_delta", "text": piece}), True
    if not reply.has_end:
        return
    yield event("content_block_stop", index=1), False
    stop = {"stop_reason": "max_tokens" if reply.stops_at_length else "end_turn", "stop_sequence": None}
    yield event("message_delta", delta=stop, usage={"output_tokens": 40} if reply.has_usage else None), False
    yield event("message_stop"), False


@contextlib.contextmanager
def served(*replies: Reply) -> Iterator[str]:
    """A server with this script in a thread of its own; its URL."""
    with serving(*replies) as server:
        yield server.url


@contextlib.contextmanager
def serving(*replies: Reply) -> Iterator[WireServer]:
    """A server with this script in a thread of its own."""
    began, found = threading.Event(), []

    async def serve() -> None:
        ended = asyncio.Event()
        async with WireServer(script=list(replies)) as server:
            found.append((server, asyncio.get_running_loop(), ended))
            began.set()
            await ended.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    began.wait()
    server, loop, ended = found[0]
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join()
