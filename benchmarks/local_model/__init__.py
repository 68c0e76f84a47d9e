"""The whole product with a real language model on this machine. `__main__` says how to run it."""
