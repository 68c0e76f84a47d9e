"""Where sources contradict each other, and which of them stands."""
