"""The one driver of runs, and the queue before it; imports no screen and no widget."""
