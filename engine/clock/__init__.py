"""Times calls on a device, on both sides of a comparison: the worker's candidate and the judge's baselines.

Only children import this.  It is imported before a candidate is loaded, and binds the functions of torch that it needs
then: a candidate that replaces torch's functions later replaces none of these.
"""
