"""What people see in a terminal: tables, progress, answers."""
