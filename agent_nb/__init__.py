"""An AI agent that lives in the notebook: goal in a cell, answers with evidence, memory one can open."""

__version__ = "0.1.0"
