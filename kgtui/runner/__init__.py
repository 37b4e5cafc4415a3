"""The one driver of runs, and the queue of the screen in front of it; imports no screen and no widget."""
