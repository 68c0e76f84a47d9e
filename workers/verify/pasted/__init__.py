"""Any text through the gate: an answer of another system, an abstract, a slide."""
