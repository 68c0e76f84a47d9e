"""Clinical documents and the fields read from them."""
