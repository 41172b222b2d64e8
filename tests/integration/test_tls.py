"""Who names the wrong scheme, or a server whose certificate is not trusted, is told so, with every scheme."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from bolt_server import Server
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from e2g_neo4j import E2G, AsyncE2G, Settings
from e2g_neo4j.errors import UnreachableError


@pytest.fixture(scope="module")
def with_tls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Host and port of a server with a self-signed certificate."""
    folder = tmp_path_factory.mktemp("certificate")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*_certificate(folder))
    server = Server("Neo4j/2026.09.0", context)
    yield server.uri.partition("://")[2]
    server.close()


@pytest.fixture(scope="module")
def without_tls() -> Iterator[str]:
    """Host and port of a server without one."""
    server = Server("Neo4j/2026.09.0")
    yield server.uri.partition("://")[2]
    server.close()


def _certificate(folder: Path) -> tuple[Path, Path]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    files = folder / "certificate.pem", folder / "key.pem"
    files[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    files[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, *private))
    return files


async def errors_of(uri: str) -> set[str]:
    """Return what both clients say, which must be the same."""
    settings = Settings(neo4j_uri=uri, neo4j_password="any", neo4j_connect_seconds=2)
    with E2G(settings=settings) as client, pytest.raises(UnreachableError) as sync:
        client.corpora()
    async with AsyncE2G(settings=settings) as other:
        with pytest.raises(UnreachableError) as awaited:
            await other.corpora()
    return {str(sync.value), str(awaited.value)}


@pytest.mark.parametrize("scheme", ["bolt+s", "neo4j+s"])
async def test_a_certificate_that_is_not_trusted_is_named(with_tls: str, scheme: str) -> None:
    [said] = await errors_of(f"{scheme}://{with_tls}")
    assert "certificate is not trusted: self-signed certificate" in said
    assert "bolt+ssc:// or neo4j+ssc://" in said


@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
async def test_a_server_that_wants_tls_is_recognised(with_tls: str, scheme: str) -> None:
    [said] = await errors_of(f"{scheme}://{with_tls}")
    assert "bolt+s:// or neo4j+s://" in said


@pytest.mark.parametrize("scheme", ["bolt+s", "bolt+ssc", "neo4j+s", "neo4j+ssc"])
async def test_a_server_without_tls_is_recognised(without_tls: str, scheme: str) -> None:
    [said] = await errors_of(f"{scheme}://{without_tls}")
    assert "does not answer in TLS" in said
    assert "bolt:// or neo4j://" in said


async def test_one_that_is_not_there_is_told_from_these() -> None:
    for said in await errors_of("neo4j://127.0.0.1:9"):
        assert "127.0.0.1:9" in said
        assert "check NEO4J_URI" in said
        assert "TLS" not in said
        assert "\n" not in said
