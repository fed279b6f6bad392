"""A sandbox inside a framework for agents: one module for each, which needs the extra of its name."""
