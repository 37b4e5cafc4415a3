"""Records the tape of a call: what allocated, moved and launched, as `engine.protocol.proof.tape` describes it.

A tape is a claim.  What escapes the recorder is missing when the tape is replayed, and the case is not proven.
"""
