"""Settings, from the environment, a `.env` file in the working directory, and whatever the caller passes."""

from __future__ import annotations

from pathlib import Path

import platformdirs
from pydantic import AliasChoices, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from e2g_neo4j.errors import ConfigurationError


def _neo4j(name: str) -> AliasChoices:
    """`NEO4J_URI` and friends go without our prefix: the names that Neo4j's own tools read."""
    return AliasChoices(f"neo4j_{name}", f"NEO4J_{name.upper()}")


class Settings(BaseSettings):
    """How this program runs. Every field is read from `E2G_<NAME>`, the database's from `NEO4J_<NAME>`.

    No URI means the managed local server, started when it is not running.
    """

    model_config = SettingsConfigDict(
        env_prefix="E2G_", env_file=".env", env_file_encoding="utf-8", extra="ignore", populate_by_name=True
    )

    neo4j_uri: str | None = Field(None, validation_alias=_neo4j("uri"))
    neo4j_username: str = Field("neo4j", validation_alias=_neo4j("username"))
    neo4j_password: SecretStr | None = Field(None, validation_alias=_neo4j("password"))
    neo4j_database: str = Field("neo4j", validation_alias=_neo4j("database"))

    home: Path = Field(
        default_factory=lambda: Path(platformdirs.user_data_dir("e2g-neo4j", appauthor=False)),
        description="Where the managed Neo4j keeps its data, logs and password.",
    )
    db_heap_mb: int = Field(1024, ge=256, description="Heap of the managed Neo4j, in MiB.")

    embedding_model: str = Field(
        "all-MiniLM-L6-v2",
        description="A sentence-transformers name or folder, or `ollama:NAME`. The default is bundled.",
    )
    spacy_model: str | None = Field(None, description="An installed spaCy pipeline; unset: the bundled en_e2g_sm.")
    chat_model: str | None = Field(
        None, description="`ollama:NAME`, or `provider:NAME` for langchain's init_chat_model."
    )
    ollama_host: str | None = Field(None, description="Where Ollama listens; unset: its own default.")

    chunk_tokens: int = Field(1200, ge=32, description="Tokens of a chunk.")
    chunk_overlap: int = Field(100, ge=0, description="Tokens that neighbouring chunks share.")
    group_size: int = Field(5, ge=2, description="Nodes summarised into one (the paper's g).")
    summary_tokens: int = Field(400, ge=32, description="Token budget of a summary.")
    top_k: int = Field(10, ge=1, le=1000, description="Chunks wanted (k).")
    hops: int = Field(3, ge=1, le=6, description="Longest path between two entities, in edges (h).")
    llm_concurrency: int = Field(4, ge=1, le=256, description="Calls of the chat model under way at once.")
    llm_context: int | None = Field(
        None, ge=512, description="Tokens that the chat model reads at once, prompt and reply; unset: what it says."
    )
    llm_timeout: float = Field(600.0, gt=0, description="Seconds without a token after which an Ollama call failed.")
    prompts: Path | None = Field(None, description="A folder with prompts of yours, in place of those bundled.")
    evidence_tokens: int = Field(6000, ge=100, description="Tokens of evidence that an answer is made from.")
    answer_tokens: int = Field(1000, ge=16, description="Tokens that an answer may have.")
    price_prompt: float = Field(0.0, ge=0, description="Price of a million tokens that the chat model reads.")
    price_completion: float = Field(0.0, ge=0, description="Price of a million tokens that the chat model writes.")
    max_document_mb: int = Field(32, ge=1, description="Largest text of one document, in MiB of UTF-8.")
    workers: int | None = Field(None, ge=1, description="Processes for extraction; unset: one a core.")


def load_settings() -> Settings:
    """The settings of the environment and `.env`. Raises ConfigurationError that names the variable at fault."""
    try:
        return Settings()
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False, include_context=False)[0]
        name = str(fault["loc"][0]).upper() if fault["loc"] else "A setting"
        variable = name if name.startswith(("NEO4J_", "E2G_")) else f"E2G_{name}"
        raise ConfigurationError(f"{variable} cannot be used: {fault['msg']}. Correct it or unset it.") from None
