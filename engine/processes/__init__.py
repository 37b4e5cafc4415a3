"""Child processes as seen by the parent: starting them, sending commands, measuring and ending them.

Only this room starts, signals or waits for processes.  `fork_server` runs on the other side: it is the process that has
imported everything and forks the children.  No child imports this room.
"""
