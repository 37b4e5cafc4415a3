"""Names that concern processes: other ones, the caller, threads, exits, descriptors, the network."""

from __future__ import annotations

import ast
import re

from engine.static.analysis import Reading
from engine.static.names.matching import NameCheck, attributes, bases, functions, items, names, strings

_TOOLS = frozenset({"nvidia-smi", "rocm-smi", "rocminfo", "lscpu", "uname", "xpu-smi", "npu-smi", "mx-smi", "ixsmi"})
_CLOSING = frozenset({"stop", "close", "shutdown", "flush", "join", "cleanup", "terminate"})
_PROFILING = re.compile(
    r"torch\.profiler\.(record_function|profile|schedule|ProfilerActivity|tensorboard_trace_handler)\b"
)
_HARNESS = re.compile(r"pytest|kgtui|evaluat|grader|unittest|_judge|harness", re.IGNORECASE)


def _only_queries_a_tool(reading: Reading, node: ast.AST, name: str) -> bool:
    if not isinstance(node, ast.Call) or not node.args:
        return False
    command = node.args[0]
    parts = command.elts if isinstance(command, ast.List | ast.Tuple) else [command]
    words = [word for part in parts for word in (reading.names.text(part) or "?").split()]
    return bool(words) and (words[0] in _TOOLS or words[1:] == ["--version"])


def _is_not_raised(reading: Reading, node: ast.AST, name: str) -> bool:
    return not isinstance(reading.parent(node), ast.Raise)


def _is_waited_for(reading: Reading, node: ast.AST, name: str) -> bool:
    """Whether a with statement or a later join waits for the thread; base classes have another pattern."""
    if isinstance(reading.parent(node), ast.withitem | ast.ClassDef):
        return True
    around = reading.function(node)
    return around is not None and any(
        isinstance(part, ast.Call)
        and isinstance(part.func, ast.Attribute)
        and part.func.attr == "join"
        and not isinstance(part.func.value, ast.Constant)
        and part.lineno > getattr(node, "lineno", 0)
        for part in ast.walk(around)
    )


def _only_closes(reading: Reading, node: ast.AST, name: str) -> bool:
    """Whether atexit registers a method that stops a thread or closes a file."""
    given = node.args[0] if isinstance(node, ast.Call) and node.args else None
    return name == "atexit.register" and isinstance(given, ast.Attribute) and given.attr in _CLOSING


def _calls_nothing(reading: Reading, node: ast.AST, name: str) -> bool:
    return not isinstance(node, ast.FunctionDef) or not any(isinstance(part, ast.Call) for part in reading.inside(node))


def _opens_no_descriptor(reading: Reading, node: ast.AST, name: str) -> bool:
    first = node.args[0] if isinstance(node, ast.Call) and node.args else None
    return not isinstance(reading.names.value(first), int)


def _names_a_profiler(reading: Reading, node: ast.AST, name: str) -> bool:
    """Whether this labels or starts a profile; neither shows whether one is running."""
    return _PROFILING.match(name) is not None


def _reads_no_harness_variable(reading: Reading, node: ast.AST, name: str) -> bool:
    above = reading.parent(node)
    if isinstance(node, ast.Call):
        key = reading.names.text(node.args[0]) if node.args else None
    else:
        key = reading.names.text(above.slice) if isinstance(above, ast.Subscript) else None
    return not key or not _HARNESS.search(key)


PROCESS_CHECKS = (
    NameCheck(
        name="network",
        why=("The work can be done by another machine, and inputs can be sent away."),
        strict="The file opens no connection.",
        patterns=(
            names(
                "socket. _socket. urllib.request. urllib3. requests. http.client. http.server. httpx. aiohttp. "
                "ftplib. smtplib. telnetlib. xmlrpc. socketserver. websockets. websocket. zmq. grpc. paramiko. ssl. "
                "asyncio.open_connection asyncio.start_server multiprocessing.connection. torch.hub. huggingface_hub. "
                "torch.distributed.init_process_group torch.distributed.rpc. torch.distributed.TCPStore",
                "{name} can open a network connection",
            ),
        ),
        catches=(
            "import socket\ndef f(x):\n    socket.create_connection(('h', 9))\n",
            "from urllib.request import urlopen as u\ndef f(x):\n    return u('http://h').read()\n",
            "import requests\ndef f(x):\n    return requests.get('http://h')\n",
            "import http.client as c\ndef f(x):\n    return c.HTTPConnection('h')\n",
            "import torch\nW = torch.hub.load_state_dict_from_url('http://h')\n",
        ),
        spares=(
            "'''See https://triton-lang.org for the tutorial.'''\n",
            "import socket\n",
            "from urllib.parse import quote\nNAME = quote('a b')\n",
            "def f(requests):\n    return requests.get(3)\n",
            "import torch.distributed as dist\ndef f(x):\n    return dist.is_available()\n",
        ),
    ),
    NameCheck(
        name="other_processes",
        why=(
            "Another process can do the work, or remain after the run. A query of nvidia-smi or a compiler's "
            "version is ordinary."
        ),
        strict="The file starts no process.",
        patterns=(
            names(
                "subprocess.run subprocess.Popen subprocess.call subprocess.check_call subprocess.check_output "
                "subprocess.getoutput subprocess.getstatusoutput _posixsubprocess. os.system os.popen os.fork "
                "os.forkpty os.posix_spawn os.posix_spawnp os.execv os.execve os.execvp os.execl os.execlp os.spawnv "
                "os.spawnl os.setsid os.startfile pty. multiprocessing.Process multiprocessing.Pool "
                "multiprocessing.get_context multiprocessing.Manager multiprocessing.process. "
                "multiprocessing.shared_memory. multiprocessing.managers. torch.multiprocessing. "
                "concurrent.futures.ProcessPoolExecutor asyncio.create_subprocess_exec "
                "asyncio.create_subprocess_shell pip. ensurepip. posix.fork ray. daemon.",
                "{name} starts another process or shares memory with one",
                unless=_only_queries_a_tool,
            ),
        ),
        catches=(
            "import subprocess\ndef f(x):\n    subprocess.Popen(['worker'])\n",
            "import os\ndef f(x):\n    if os.fork():\n        return x\n",
            "from os import system as s\ns('python helper.py &')\n",
            "import multiprocessing as mp\ndef f(x):\n    mp.Process(target=work).start()\n",
            "from concurrent.futures import ProcessPoolExecutor\nPOOL = ProcessPoolExecutor(2)\n",
            "import subprocess, sys\nsubprocess.check_call([sys.executable, '-m', 'pip', 'install', 'flash-attn'])\n",
            "import torch.multiprocessing as tm\ntm.spawn(work)\n",
        ),
        spares=(
            "import subprocess\nGPU = subprocess.check_output(['nvidia-smi', '-L'])\n",
            "import subprocess\nV = subprocess.run(['nvcc', '--version'], capture_output=True)\n",
            "import os\nCORES = os.cpu_count()\nPID = os.getpid()\n",
            "import multiprocessing\nCORES = multiprocessing.cpu_count()\n",
            "import subprocess\nif __name__ == '__main__':\n    subprocess.run(['make'])\n",
            "import os\nROOT = os.path.join('a', 'b')\n",
            "import subprocess\ndef f(x):\n    try:\n        return launch(x)\n"
            "    except subprocess.CalledProcessError:\n"
            "        raise\n",
        ),
    ),
    NameCheck(
        name="ends_process",
        why=("A clean exit before the checks can count as success."),
        strict="The file does not end the process.",
        patterns=(
            names(
                "os._exit sys.exit os.abort builtins.exit builtins.quit os.kill os.killpg signal.raise_signal "
                "signal.pthread_kill faulthandler._sigsegv _exit posix._exit",
                "{name} ends the process",
            ),
            names("builtins.SystemExit", "SystemExit ends the process", unless=_is_not_raised),
        ),
        catches=(
            "import os\nos._exit(0)\n",
            "import sys\ndef f(x):\n    sys.exit(0)\n",
            "def f(x):\n    raise SystemExit(0)\n",
            "import os\ndef f(x):\n    os.kill(os.getpid(), 9)\n",
            "def f(x):\n    exit()\n",
        ),
        spares=(
            "import sys\ndef main():\n    return 0\nif __name__ == '__main__':\n    sys.exit(main())\n",
            "def f(x):\n    raise ValueError('exit')\n",
            "def f(x):\n    try:\n        return launch(x)\n    finally:\n        x.__exit__\n",
            "if __name__ == '__main__':\n    raise SystemExit(0)\n",
            "class C:\n    def exit(self):\n        return 1\nC().exit()\n",
        ),
    ),
    NameCheck(
        name="background_work",
        why=(
            "A thread can work after the clock has stopped. A pool left before the return, and a joined thread, "
            "are ordinary."
        ),
        strict="Nothing runs beside the call: no threads, no executors, no timers.",
        patterns=(
            names(
                "threading.Thread threading.Timer _thread.start_new_thread _thread.start_joinable_thread "
                "concurrent.futures.ThreadPoolExecutor concurrent.futures.thread.ThreadPoolExecutor "
                "multiprocessing.pool.ThreadPool multiprocessing.dummy. asyncio.run_coroutine_threadsafe "
                "asyncio.to_thread asyncio.get_event_loop asyncio.new_event_loop sched.scheduler joblib.Parallel",
                "{name} can run after the call has returned",
                unless=_is_waited_for,
            ),
            bases("threading.Thread", "a thread can run after the call has returned"),
        ),
        catches=(
            "import threading\ndef f(x):\n"
            "    threading.Thread(target=work, args=(x,), daemon=True).start()\n    return x\n",
            "from threading import Timer as T\ndef f(x):\n    T(0.01, work).start()\n",
            "from concurrent.futures import ThreadPoolExecutor\nPOOL = ThreadPoolExecutor(1)\ndef f(x):\n"
            "    POOL.submit(work, x)\n    return x\n",
            "import _thread\ndef f(x):\n    _thread.start_new_thread(work, (x,))\n",
            "import asyncio\ndef f(x):\n    asyncio.get_event_loop().run_in_executor(None, work)\n",
            "import threading\nclass Late(threading.Thread):\n    def run(self):\n        work()\n"
            "def f(x):\n    Late().start()\n    return x\n",
        ),
        spares=(
            "import threading\nLOCK = threading.Lock()\ndef f(x):\n    with LOCK:\n        return x\n",
            "from concurrent.futures import ThreadPoolExecutor\ndef warm(configs):\n"
            "    with ThreadPoolExecutor(4) as pool:\n"
            "        return list(pool.map(build, configs))\n",
            "import threading\ndef f(x):\n    t = threading.Thread(target=work)\n    t.start()\n"
            "    t.join()\n    return x\n",
            "import threading\nLOCAL = threading.local()\nMAIN = threading.current_thread()\n",
            "import logging.handlers, queue\nLISTENER = logging.handlers.QueueListener(queue.SimpleQueue())\n"
            "LISTENER.start()\n",
            "import threading\ndef bench():\n    threading.Thread(target=print).start()\ndef f(x):\n    return x\n"
            "if __name__ == '__main__':\n    bench()\n",
        ),
    ),
    NameCheck(
        name="deferred_work",
        why=("Work at an exit, a garbage collection, a hook or a signal happens after the call."),
        strict="When the call returns, all its work has been submitted to the device; nothing is deferred.",
        patterns=(
            names(
                "atexit.register weakref.finalize gc.callbacks. signal.signal signal.setitimer signal.alarm "
                "sys.exitfunc sys.settrace sys.setprofile sys.addaudithook threading.settrace threading.setprofile "
                "sys.monitoring. torch.autograd.graph.saved_tensors_hooks torch.cuda.memory._set_allocator_settings",
                "{name} runs code after the call has returned",
                unless=_only_closes,
            ),
            functions("__del__", "{name} runs code after the call, when the object is freed", unless=_calls_nothing),
            attributes(
                "(cudaLaunch|cuLaunch)HostFunc|(cudaStream|cuStream)AddCallback",
                "{name} runs a host callback when the stream reaches it",
            ),
        ),
        catches=(
            "import atexit\natexit.register(finish)\n",
            "import weakref\ndef f(x):\n    weakref.finalize(x, finish)\n    return x\n",
            "class Late:\n    def __del__(self):\n        launch(self.x)\ndef f(x):\n    return Late(x)\n",
            "import gc\ngc.callbacks.append(finish)\n",
            "import signal\nsignal.setitimer(signal.ITIMER_REAL, 0.01)\n",
            "def f(x, cudart):\n    cudart.cudaLaunchHostFunc(x, finish, None)\n",
        ),
        spares=(
            "import weakref\nCACHE = weakref.WeakKeyDictionary()\n",
            "import gc\ngc.collect()\n",
            "class Plan:\n    def __init__(self):\n        self.x = 1\n    def __call__(self, x):\n        return x\n",
            "import atexit\nif __name__ == '__main__':\n    atexit.register(print)\n",
            "import signal\nNAME = signal.SIGTERM\n",
            "import atexit, logging.handlers\nLISTENER = logging.handlers.QueueListener(None)\n"
            "atexit.register(LISTENER.stop)\n",
            "class Graph:\n    def __del__(self):\n        self.handle = None\ndef f(x):\n    return Graph()\n",
        ),
    ),
    NameCheck(
        name="inherited_descriptors",
        why=(
            "An inherited descriptor can be the channel of the results; /proc gives access to the memory of other "
            "processes."
        ),
        strict="The file accesses no raw file descriptors and no other processes.",
        patterns=(
            names(
                "os.write os.writev os.pwrite os.read os.readv os.pread os.dup os.dup2 os.close os.closerange "
                "os.fdopen os.sendfile os.pipe os.fstat os.set_inheritable os.memfd_create os.pidfd_open os.open "
                "fcntl. select. selectors. socket.fromfd termios. posix.",
                "{name} accesses file descriptors that may be inherited",
            ),
            names("builtins.open io.open", "{name} opens an inherited file descriptor", unless=_opens_no_descriptor),
            strings(
                r""
                r"/(proc|dev/fd|dev/mem|dev/shm|sys/kernel)\b(?!(?<=^/proc)/(cpuinfo|meminfo|version|driver/nvidia|loadavg|stat$|uptime)).*",
                "{name!r} is a path to other processes, their memory or descriptors",
            ),
        ),
        catches=(
            "import os\ndef f(x):\n    os.write(3, b'ok')\n    return x\n",
            "import os as o\ndef f(x):\n    o.dup2(1, 5)\n",
            "import os\nfor fd in os.listdir('/proc/self/fd'):\n    pass\n",
            "def f(x):\n    return open('/proc/self/mem', 'rb')\n",
            "from pathlib import Path\ndef f(x, pid):\n    return Path(f'/proc/{pid}/maps').read_text()\n",
            "import os\ndef f(x):\n    os.closerange(3, 99)\n    return x\n",
            "def f(x):\n    return open(3, 'w')\n",
            "import fcntl\ndef f(x):\n    fcntl.fcntl(3, 1)\n",
        ),
        spares=(
            "CPU = open('/proc/cpuinfo').read()\n",
            "def f(x):\n    return open('weights.txt').read()\n",
            "'''Reads /proc/self/maps? No, it does not.'''\n",
            "import os\nHERE = os.path.dirname(__file__)\n",
            "import os\nif __name__ == '__main__':\n    os.write(1, b'done')\n",
            "import os\nCORES = os.cpu_count()\nFILES = os.listdir('.')\n",
            "import sys\nsys.stdout.flush()\n",
            "def f(x):\n    return open(x, 'rb')\n",
        ),
    ),
    NameCheck(
        name="watches_caller",
        why=(
            "Frames, arguments and the profiler's state show whether a call is verified or timed. Signatures, "
            "tracebacks and a script's own arguments are ordinary."
        ),
        strict="The file does not inspect its caller.",
        patterns=(
            names(
                "inspect.stack inspect.currentframe inspect.trace inspect.getouterframes inspect.getinnerframes "
                "inspect.getframeinfo sys._getframe sys._getframemodulename sys._current_frames "
                "sys._current_exceptions sys.argv sys.orig_argv traceback.extract_stack traceback.walk_stack "
                "traceback.print_stack traceback.format_stack __main__. torch.autograd.profiler._is_profiler_enabled "
                "torch._C._autograd._profiler_enabled torch.autograd._profiler_enabled torch.profiler. sys.gettrace "
                "sys.getprofile os.getppid psutil.",
                "{name} inspects the caller",
                unless=_names_a_profiler,
            ),
            attributes(
                "f_back|f_locals|f_globals|f_code|tb_frame|gi_frame|cr_frame", "{name} reads a frame of the caller"
            ),
            items("__main__", "the main module is read"),
            names(
                "os.environ.get os.getenv os.environ",
                "an environment variable of a test harness is read",
                unless=_reads_no_harness_variable,
            ),
        ),
        catches=(
            "import inspect\ndef f(x):\n    if 'check' in inspect.stack()[1].filename:\n        return x\n",
            "import sys as s\ndef f(x):\n    return s._getframe(1).f_locals\n",
            "import sys\nTIMING = '--bench' in sys.argv\n",
            "import traceback\ndef f(x):\n    return traceback.extract_stack()\n",
            "import sys\ndef f(x):\n    return getattr(sys, '_get' + 'frame')(1)\n",
            "import __main__\ndef f(x):\n    return __main__.expected\n",
            "import sys\ndef f(x):\n    return sys.modules['__main__'].expected\n",
            "import torch\ndef f(x):\n    if torch.autograd.profiler._is_profiler_enabled:\n        return x\n",
            "import os\nif os.environ.get('PYTEST_CURRENT_TEST'):\n    FAST = False\n",
            "def f(x):\n    try:\n        raise ValueError\n    except ValueError as error:\n"
            "        return error.__traceback__.tb_frame.f_back\n",
        ),
        spares=(
            "import inspect\nNAMES = inspect.signature(len).parameters\n",
            "import traceback\ndef f(x):\n    try:\n        pass\n    except ValueError:\n"
            "        traceback.print_exc()\n",
            "import sys\nif __name__ == '__main__':\n    print(sys.argv)\n",
            "import os\nBLOCK = int(os.environ.get('SILU_BLOCK', '64'))\n",
            "import sys\nOLD = sys.version_info < (3, 12)\n",
            "import torch\ndef f(x):\n    if torch.is_grad_enabled() and x.requires_grad:\n"
            "        return Function.apply(x)\n",
            "import inspect\nSOURCE = inspect.getsource(len)\n",
            "import os\nDEBUG = os.getenv('TRITON_INTERPRET') == '1'\n",
            "import torch\ndef f(x):\n    return torch.cuda.is_current_stream_capturing()\n",
            "import torch\ndef f(x):\n    with torch.profiler.record_function('norm'):\n        return launch(x)\n",
            "from torch.profiler import ProfilerActivity, profile\ndef bench(x):\n"
            "    with profile(activities=[ProfilerActivity.CPU]) as seen:\n        f(x)\n"
            "    print(seen.key_averages())\n",
        ),
    ),
)
