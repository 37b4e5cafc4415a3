"""From raw samples to times, ratios, summaries and floors.  Pure; imports no process code."""
