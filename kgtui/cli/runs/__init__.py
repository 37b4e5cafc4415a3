"""Runs for commands: carried out, printed, stored, and read back.  Imports no screen and no widget."""
