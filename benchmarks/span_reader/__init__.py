"""Training of the reader of documents (`workers.extract.span_reader`)."""
