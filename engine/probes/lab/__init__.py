"""Functions that probes share: a candidate that passed, called again.  The scan for probes skips this package."""
