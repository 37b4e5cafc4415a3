"""Messages and the file format of the proof: the tape of a call, and its replay."""
