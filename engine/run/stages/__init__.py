"""The stages of a run, one module each, and the verification of cases that two of them share."""
