"""The least of a shell with job control: shell.py PROGRAM ARGUMENTS, each line that is typed brings a stopped job back.

It is the leader of its session and gives its job a group of processes and the terminal, as interactive shells do.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys


def main(command: list[str]) -> int:
    """Run the command as a job until it has ended."""
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    child = subprocess.Popen(command, process_group=0)
    while True:
        os.tcsetpgrp(0, child.pid)
        os.killpg(child.pid, signal.SIGCONT)
        _, status = os.waitpid(child.pid, os.WUNTRACED)
        os.tcsetpgrp(0, os.getpgrp())
        if not os.WIFSTOPPED(status):
            child.returncode = os.waitstatus_to_exitcode(status)
            return child.returncode
        print("stopped; a line brings it back", flush=True)
        sys.stdin.readline()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
