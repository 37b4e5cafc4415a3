"""Connections to elsewhere.

The work can be done by another machine, or what was seen can be carried off.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.model import Finding
from engine.static.analysis import Reading
from engine.static.analysis.words import words
from engine.static.checks import hint

STRICT = "The file opens no connection."
CATCHES = (
    "import socket\ndef f(x):\n    socket.create_connection(('h', 9))\n",
    "from urllib.request import urlopen as u\ndef f(x):\n    return u('http://h').read()\n",
    "import requests\ndef f(x):\n    return requests.get('http://h')\n",
    "import http.client as c\ndef f(x):\n    return c.HTTPConnection('h')\n",
    "import torch\nW = torch.hub.load_state_dict_from_url('http://h')\n",
)
SPARES = (
    "'''See https://triton-lang.org for the tutorial.'''\n",
    "import socket\n",
    "from urllib.parse import quote\nNAME = quote('a b')\n",
    "def f(requests):\n    return requests.get(3)\n",
    "import torch.distributed as dist\ndef f(x):\n    return dist.is_available()\n",
)
_NETWORK = words(
    "socket. _socket. urllib.request. urllib3. requests. http.client. http.server. httpx. aiohttp. ftplib. smtplib. "
    "telnetlib. xmlrpc. socketserver. websockets. websocket. zmq. grpc. paramiko. ssl. asyncio.open_connection "
    "asyncio.start_server multiprocessing.connection. torch.hub. huggingface_hub. torch.distributed.init_process_group "
    "torch.distributed.rpc. torch.distributed.TCPStore"
)


def check(reading: Reading) -> Iterator[Finding]:
    """A hint wherever a connection may be opened."""
    for node, name in reading.mentions(*_NETWORK):
        yield hint("network", node, f"{name} may do the work elsewhere, or carry something off")
