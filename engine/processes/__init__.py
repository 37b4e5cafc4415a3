"""Child processes from the parent's side: started, given commands, watched, and ended.

Only this room starts, signals or waits for a process.  `fork_server` is the exception to the parent's view: it is the
process that has imported everything and forks the children.  No child imports this room.
"""
