"""One queue of runs on one engine for the screen; imports no screen and no widget."""
