"""Training of the reader of notes (`workers.summarize.acts`): see README.md."""
