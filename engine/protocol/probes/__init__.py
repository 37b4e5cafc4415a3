"""Messages of the probes, which call a passing candidate under other conditions.  Imports only other messages."""
