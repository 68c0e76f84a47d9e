"""Commands for who runs an instance."""
