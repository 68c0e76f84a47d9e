"""Whether reading takes time in proportion to what is read: patterns, readers, whole stages."""
