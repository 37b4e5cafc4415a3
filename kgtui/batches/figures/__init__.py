"""Figures of a batch: rates, agreement with the suites' own rules, operators that an audit found weak.  Pure."""
