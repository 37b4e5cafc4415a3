"""From raw samples to times, ratios, summaries and roofline times.  Pure; imports no process code."""
