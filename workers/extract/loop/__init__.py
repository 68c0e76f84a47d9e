"""Extract, evaluate, mend: the loop, in memory and cut into steps that are stored."""
