"""The command line: one module per command under `commands`, found by scanning, and their shared parts."""
