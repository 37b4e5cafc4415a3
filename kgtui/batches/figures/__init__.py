"""What a batch came to in numbers: rates, agreement with the suites' own rules, operators that cannot tell.  Pure."""
