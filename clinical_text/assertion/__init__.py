"""What a text says of what it names: that it is there, denied, supposed, looked for, past. Pure."""
