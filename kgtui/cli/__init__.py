"""The command line: one module per command under `commands`, found by scanning, and what the commands share."""
