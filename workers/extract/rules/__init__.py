"""Rules that find the values of fields in the words of a whole document, and read quoted words."""
