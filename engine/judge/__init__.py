"""The trusted process: it makes inputs, keeps expected outputs, and compares.

It never loads a candidate.  Seeds are drawn here after the candidate is loaded, and leave this process only with the
result of the comparison.
"""
