"""The running instance that a command talks to: settings, health, why it does not serve."""
