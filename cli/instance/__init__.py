"""The running instance that a command uses: its settings, its health, and its failures."""
