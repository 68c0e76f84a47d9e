"""Commands on what is held: sources, files, packs, indexes."""
