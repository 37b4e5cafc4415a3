"""Runs for commands: made, printed, recorded, read back from the store.  Imports no screen and no widget."""
