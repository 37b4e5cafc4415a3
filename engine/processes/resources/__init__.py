"""Resources of child processes, and the bounds that the parent sets.  Imports no other process code."""
