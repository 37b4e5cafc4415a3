"""What child processes use of the machine, and the bounds that the parent sets.  Imports no other process code."""
