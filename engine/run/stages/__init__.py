"""The stages of a run, one module each, and the judging of cases that two of them share."""
