"""Resources of child processes, and the limits set by the parent.  Imports no other process code."""
