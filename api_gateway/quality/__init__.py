"""The quality metrics of the service, and their targets."""
