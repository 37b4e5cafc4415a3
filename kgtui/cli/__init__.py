"""The command line: one module per command under `commands`, and what the commands share."""
