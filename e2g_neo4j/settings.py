"""Settings from the environment, a `.env` file in the working directory, and the caller."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Set
from functools import cache
from pathlib import Path
from typing import Any, Literal

import platformdirs
from dotenv import dotenv_values
from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, DotEnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from e2g_neo4j.errors import ConfigurationError, did_you_mean

MAX_HOPS = 6
"""Longest path between two entities that a question may ask for, in edges. shortestPath takes a literal only, so that
the same number is in `cypher/query/link`, `cypher/query/connect`, `cypher/explore/evidence` and
`cypher/explore/between`."""


FOLDER_FILE = Path(".env")
"""The file of settings of the working directory, which may be somebody else's."""

NOT_OF_A_FOLDER = (
    "home",
    "cluster",
    "prompts",
    "templates",
    "text_to_cypher",
    "fetch_pages",
    "spacy_model",
    "embedding_url",
)
"""Settings that decide what code or statements run, which files are written or sent to a model, and which server gets a
provider's key. FOLDER_FILE cannot set them. A Dask scheduler sends code, and a spaCy pipeline is imported."""


_HOST = r"(?:[^\s/?#@:\[\]]+|\[[\w:.%]+\])(?::\d{1,5})?/?"
_ADDRESS = re.compile(rf"bolt(?:\+s|\+ssc)?://{_HOST}|neo4j(?:\+s|\+ssc)?://{_HOST}(?:\?[^\s@#]*)?")
"""What the driver takes, without a user name and password. Rules for routing may follow neo4j://HOST."""


def _neo4j(name: str) -> AliasChoices:
    """Return the names of a database setting, which has the prefix of Neo4j's own tools instead of `E2G_`."""
    return AliasChoices(f"neo4j_{name}", f"NEO4J_{name.upper()}")


class Settings(BaseSettings):
    """The settings. Fields are read from `E2G_<NAME>`, those of the database from `NEO4J_<NAME>`.

    Without `neo4j_uri`, the managed local server is used, and started if necessary.
    """

    model_config = SettingsConfigDict(
        env_prefix="E2G_",
        env_file=FOLDER_FILE,
        env_file_encoding="utf-8",
        extra="ignore",
        populate_by_name=True,
        hide_input_in_errors=True,
    )

    @model_validator(mode="before")
    @classmethod
    def _leave_out_empty(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Take an empty value for none, as `E2G_CHAT_MODEL=` is meant, where empty has no meaning of its own."""
        return {name: value for name, value in values.items() if value != "" or name.endswith("_prefix")}

    @field_validator("neo4j_uri")
    @classmethod
    def _check_address(cls, uri: str | None) -> str | None:
        """Refuse what is no address, without repeating it: it may contain a password."""
        if uri is None or _ADDRESS.fullmatch(uri):
            return uri
        if "@" in uri:
            raise ValueError("a user name and password belong in NEO4J_USERNAME and NEO4J_PASSWORD")
        web = ", but of a web page, such as Neo4j Browser" if uri.startswith(("http:", "https:")) else ""
        raise ValueError(
            f"it is no address of Neo4j's Bolt protocol{web}, which is like bolt://HOST:7687 or neo4j://HOST:7687"
        )

    @field_validator("neo4j_database")
    @classmethod
    def _check_database(cls, name: str) -> str:
        if name.lower() == "system":
            raise ValueError("`system` is the server's own and holds no graph; name another, by default `neo4j`")
        return name

    neo4j_uri: str | None = Field(
        None,
        validation_alias=_neo4j("uri"),
        description="Address of your Neo4j, 5.26 LTS or 2026.01 and later. Default: the managed server.",
    )
    neo4j_username: str = Field("neo4j", validation_alias=_neo4j("username"), description="User of the database.")
    neo4j_password: SecretStr | None = Field(
        None, validation_alias=_neo4j("password"), description="Password of this user."
    )
    neo4j_database: str = Field("neo4j", validation_alias=_neo4j("database"), description="Name of the database.")
    neo4j_connect_seconds: float = Field(
        6.0,
        gt=0,
        validation_alias=_neo4j("connect_seconds"),
        description="Seconds in which a connection must be there: a free one, or a new one that is logged in.",
    )
    neo4j_idle_seconds: float = Field(
        10.0,
        ge=0,
        validation_alias=_neo4j("idle_seconds"),
        description="Seconds after which an unused connection is tested before it is used, by one round trip.",
    )
    neo4j_keep_alive_seconds: int = Field(
        30,
        ge=1,
        validation_alias=_neo4j("keep_alive_seconds"),
        description="Seconds after which an unused connection is probed, so that no firewall forgets it.",
    )
    neo4j_lifetime_seconds: float = Field(
        3000.0,
        gt=0,
        validation_alias=_neo4j("lifetime_seconds"),
        description="Seconds after which a connection is replaced. Aura closes connections after an hour.",
    )

    home: Path = Field(
        default_factory=lambda: Path(platformdirs.user_data_dir("e2g-neo4j", appauthor=False)),
        description="Folder for the data, logs and password of the managed Neo4j. Default: the user's data folder.",
    )
    db_heap_mb: int = Field(1024, ge=256, description="Heap of the managed Neo4j, in MiB.")

    embedding_model: str = Field(
        "BAAI/bge-small-en-v1.5",
        description="The name or folder of a sentence-transformers model, `ollama:NAME`, or `provider:NAME` for "
        "LangChain's init_embeddings, such as `openai:text-embedding-3-small`. The default and "
        "`sentence-transformers/all-MiniLM-L6-v2` are fetched on first use, and need no PyTorch.",
    )
    embedding_url: str | None = Field(
        None,
        description="Address of a server with the API of the provider of E2G_EMBEDDING_MODEL, such as vLLM, TEI, LM "
        "Studio or llama.cpp with `openai:NAME`. Default: the provider's own.",
    )
    embedding_precision: Literal["auto", "float32"] = Field(
        "auto", description="auto: bfloat16 if the processor supports it; float32: never."
    )
    embedding_dimensions: int | None = Field(
        None, ge=1, description="Length of the vectors, for models that can be truncated. Default: that of the model."
    )
    query_prefix: str | None = Field(
        None, description="Text before a question; empty: none. Default: what the model asks for."
    )
    passage_prefix: str | None = Field(
        None, description="Text before a window or summary; empty: none. Default: what the model asks for."
    )
    window_tokens: int = Field(256, ge=32, description="Maximum tokens of a window, if the model accepts as many.")
    reranker: str | None = Field(
        None, description="Name or folder of a sentence-transformers cross-encoder that orders the passages."
    )
    spacy_model: str | None = Field(None, description="An installed spaCy pipeline. Default: the bundled en_e2g_sm.")
    chat_model: str | None = Field(
        None, description="Chat model: `ollama:NAME`, or `provider:NAME` for langchain's init_chat_model."
    )
    judge_model: str | None = Field(
        None,
        description="Model that judges answers, for `--judge` of `e2g eval`, named likewise. Default: the chat model.",
    )
    ollama_host: str | None = Field(None, description="Address of the Ollama server. Default: that of Ollama.")

    chunk_tokens: int = Field(1200, ge=32, description="Maximum tokens of a chunk.")
    chunk_overlap: int = Field(100, ge=0, description="Tokens that neighbouring chunks share.")
    group_size: int = Field(5, ge=2, description="Consecutive nodes that one summary covers (g).")
    summary_tokens: int = Field(400, ge=32, description="Token budget of a summary.")
    top_k: int = Field(10, ge=1, le=1000, description="Chunks per question (k).")
    hops: int = Field(3, ge=1, le=MAX_HOPS, description="Longest path between two entities, in edges (h).")
    llm_concurrency: int = Field(
        4, ge=1, le=256, description="Concurrent calls of the chat model, of an index run or a question."
    )
    llm_context: int | None = Field(
        None, ge=512, description="Context of the chat model in tokens, prompt and reply. Default: that of the model."
    )
    llm_timeout: float = Field(600.0, gt=0, description="Seconds without a token after which an Ollama call fails.")
    llm_schemas: bool = Field(
        True,
        description="Whether replies that are read as JSON are held to a schema. false: if the server fails.",
    )
    gleanings: int = Field(
        0, ge=0, le=10, description="How often the chat model is asked which statements of a text it has missed."
    )
    claims: bool = Field(False, description="Whether statements get a status (true, false, suspected) and a period.")
    prompts: Path | None = Field(None, description="Folder with prompts that replace the bundled ones.")
    templates: Path | None = Field(None, description="Folder with Cypher templates of your own.")
    text_to_cypher: bool = Field(False, description="Whether a chat model may write Cypher statements, which are run.")
    evidence_tokens: int = Field(6000, ge=100, description="Maximum tokens of evidence for an answer.")
    map_calls: int = Field(
        64, ge=1, description="Maximum batches of text or reports that are read for an answer, each by one call."
    )
    answer_tokens: int = Field(1000, ge=16, description="Maximum tokens of an answer.")
    price_embedding: float = Field(0.0, ge=0, description="Price of a million tokens of the embedding model.")
    price_prompt: float = Field(0.0, ge=0, description="Price of a million prompt tokens of the chat model.")
    price_completion: float = Field(0.0, ge=0, description="Price of a million completion tokens of the chat model.")
    max_document_mb: int = Field(32, ge=1, description="Maximum size of the text of a document, in MiB of UTF-8.")
    parse_memory_mb: int | None = Field(
        None, ge=256, description="Maximum memory for reading a file, in MiB. Default: 4096, in the service 1024."
    )
    parse_seconds: float | None = Field(
        None, gt=0, description="Maximum processor time for reading a file, in s. Default: 1800, in the service 300."
    )
    ocr: bool = Field(False, description="Whether the text of scanned PDFs is recognised, with ocrmypdf.")
    whole_page: bool = Field(False, description="Whether menus and the like of web pages are read too.")
    public_url: str | None = Field(
        None, pattern=r"^https?://[^/\s]+/?$", description="Address of the service for others, such as https://HOST."
    )
    fetch_pages: bool = Field(
        False, description="Whether the service fetches files of the web, from public addresses, for who may upload."
    )
    upload_mb: int = Field(100, ge=1, description="Maximum size of an upload to the service, in MiB.")
    oidc_issuer: str | None = Field(
        None,
        pattern=r"^(https://[^/\s?#@]+|http://(127\.0\.0\.1|localhost|\[::1\])(:\d+)?)(/[^\s?#]*)?$",
        description="OpenID Connect issuer whose access tokens the service accepts, as in their claim `iss`.",
    )
    oidc_audience: str | None = Field(None, description="What the claim `aud` of these tokens names.")
    oidc_corpora_claim: str = Field("e2g_corpora", min_length=1, description="Claim that lists the corpora of a token.")
    workers: int | None = Field(None, ge=1, description="Processes for entity extraction. Default: one per core.")
    cluster: str | None = Field(
        None,
        pattern=r"^(tcp|tls|ws|wss)://[^/\s]+$",
        description="Address of a Dask scheduler, such as tcp://HOST:8786, whose workers extract entities and embed.",
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Leave out what FOLDER_FILE cannot set, and take the rest as it is written there."""
        file = dotenv_settings
        if isinstance(file, DotEnvSettingsSource) and file.env_file is FOLDER_FILE:
            refused = {variable_of(name).lower() for name in NOT_OF_A_FOLDER}
            _warn_of_refused(frozenset(refused & file.env_vars.keys()))
            literal = dotenv_values(FOLDER_FILE, interpolate=False, encoding="utf-8")  # ${…} could send a secret
            found = {name.lower(): value for name, value in literal.items()}
            file.env_vars = {name: value for name, value in found.items() if name not in refused}
            _check_password(found.keys(), {name.lower() for name in (*os.environ, *init_settings())})
        return init_settings, env_settings, file


def _check_password(in_file: Set[str], elsewhere: Set[str]) -> None:
    """Raise a ConfigurationError if a folder's server would get the password of the environment."""
    if "neo4j_uri" in in_file - elsewhere and "neo4j_password" in elsewhere - in_file:
        raise ConfigurationError(
            f"NEO4J_URI is set in the file {FOLDER_FILE} and NEO4J_PASSWORD in the environment. The folder may be "
            "somebody else's, and its server would get the password: set both in the environment, or both in the file."
        )


def variable_of(name: str) -> str:
    """Return the environment variable of a setting, by the name of its field."""
    return name.upper() if name.startswith("neo4j_") else f"E2G_{name.upper()}"


OTHER_VARIABLES = ("E2G_API_KEY", "E2G_IMAGE", "E2G_PORT", "E2G_SERVICE", "E2G_TEST_", "E2G_SCREENSHOTS")
"""Variables, and beginnings of their names, that are no settings: of remote clients, containers and tests."""


def load_settings(env_file: Path | None = FOLDER_FILE) -> Settings:
    """Load the settings from the environment and a file. Warn once of variables `E2G_…` that are no settings.

    Args:
        env_file: The file, which may set everything if it is another than FOLDER_FILE; None: only the environment.

    Raises:
        ConfigurationError: A variable is invalid. The message names it.
    """
    _warn_of_unknown(frozenset(name.upper() for name in (*os.environ, *_names_in(env_file))))
    try:
        return Settings(_env_file=env_file)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False, include_context=False)[0]
        name = str(fault["loc"][0]).upper() if fault["loc"] else "A setting"
        variable = name if name.startswith(("NEO4J_", "E2G_")) else f"E2G_{name}"
        message = fault["msg"].removeprefix("Value error, ")
        raise ConfigurationError(f"{variable} is invalid: {message}. Correct it or unset it.") from None


def _names_in(env_file: Path | None) -> list[str]:
    try:
        return list(dotenv_values(env_file)) if env_file else []
    except (OSError, ValueError):  # not readable, not UTF-8: pydantic-settings reports it
        return []


@cache
def _warn_of_refused(names: frozenset[str]) -> None:
    for name in sorted(names):
        logging.getLogger(__name__).warning(
            "%s in the file %s has no effect, because the folder may be somebody else's: set it in the environment.",
            name.upper(),
            FOLDER_FILE,
        )


@cache
def _warn_of_unknown(names: frozenset[str]) -> None:
    known = [variable_of(name) for name in Settings.model_fields]
    for name in sorted(names):
        if name.startswith("E2G_") and name not in known and not name.startswith(OTHER_VARIABLES):
            near = did_you_mean(name, known)
            logging.getLogger(__name__).warning("%s is not a setting and has no effect.%s", name, near)
