"""Chat models: clients for Ollama and langchain-core, retries, prompts and token usage."""
