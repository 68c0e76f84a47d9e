"""`python -m benchmarks.scaling`."""

from benchmarks.scaling.sizes import main

main()
