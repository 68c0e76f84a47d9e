"""Documents as systems export them, read as a person's: marks give way to labels. Pure."""
