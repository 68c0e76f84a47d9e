"""Keys of callers, as operators manage them, and the links of feeds."""
