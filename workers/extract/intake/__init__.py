"""What may be read at all: a document's text from its file, and whether it is readable."""
