def no_tests(x):
    return x
