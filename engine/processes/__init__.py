"""Child processes: how they are started, what they give up, how they are spoken to and how they end.

`nursery` and `confinement` run in children, `child` and `nest` in the parent.  No other package
starts, signals or waits for a process.
"""
