"""How numbers, units and names with numbers are written."""
