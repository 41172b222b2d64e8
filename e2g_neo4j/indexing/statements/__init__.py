"""Statements: relations between entities, and descriptions of entities, that a chat model finds in the text."""
