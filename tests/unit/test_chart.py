"""The Helm chart fits the program, and what it renders is secure and complete.

What helm itself checks and renders runs where helm is installed.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent
from typing import Any

import jsonschema
import pytest
import yaml
from tiers import need
from typer.core import TyperGroup
from typer.main import get_command

from e2g_neo4j.cli.app import app
from e2g_neo4j.service.access import HEALTH
from e2g_neo4j.service.observability import Metrics
from e2g_neo4j.settings import Settings, variable_of

ROOT = Path(__file__).parents[2]
CHART = ROOT / "chart"
PAGE = (ROOT / "docs" / "deploying.md").read_text(encoding="utf-8")
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
VALUES = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
SCHEMA = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
FIELDS = {variable_of(name): field for name, field in Settings.model_fields.items()}
OWN = {"E2G_PUBLIC_URL", "E2G_WORKERS"}
"""Settings that the chart derives from other values."""
MANAGED = {"E2G_HOME", "E2G_DB_HEAP_MB"}
"""Settings of the managed server, which no container starts."""

NAMED = {"NEO4J_URI", "NEO4J_USERNAME", "NEO4J_PASSWORD", "NEO4J_DATABASE"}
"""Settings that have values of their own."""

REQUIRED: dict[str, Any] = {
    "image": {"repository": "registry.example.org/e2g-neo4j"},
    "neo4j": {"uri": "neo4j+s://graph.example.org", "passwordSecret": {"name": "graph"}},
}
EVERYTHING: dict[str, Any] = {
    "image": {**REQUIRED["image"], "tag": "1.2.3", "pullSecrets": ["registry"]},
    "neo4j": {**REQUIRED["neo4j"], "username": "e2g", "database": "books"},
    "settings": {"E2G_CHAT_MODEL": "openai:some", "E2G_TOP_K": "20", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://otel:4318"},
    "extraEnvFrom": [{"secretRef": {"name": "openai"}}],
    "service": {"mcpWrite": True},
    "worker": {"replicas": 3, "processes": 4},
    "autoscaling": {"enabled": True},
    "ingress": {"enabled": True, "className": "nginx", "host": "e2g.example.org", "tlsSecret": "e2g-tls"},
    "networkPolicy": {
        "enabled": True,
        "from": [{"namespaceSelector": {"matchLabels": {"name": "ingress"}}}],
        "egress": [{"ports": [{"port": 7687}]}],
    },
    "podAnnotations": {"prometheus.io/scrape": "true"},
    "nodeSelector": {"disk": "ssd"},
    "tolerations": [{"key": "books", "operator": "Exists"}],
}
BOTH = pytest.mark.parametrize("values", [REQUIRED, EVERYTHING], ids=["required", "everything"])


# --- without helm ------------------------------------------------------------------------------------


def test_the_version_is_that_of_the_project() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    assert chart["name"] == "e2g-neo4j"
    assert chart["version"] == chart["appVersion"] == VERSION


def test_the_schema_knows_every_value_and_no_other() -> None:
    def names(schema: dict[str, Any], values: Any, path: str = "") -> Iterator[str]:
        if "properties" not in schema:
            return
        known = set(schema["properties"]) - {"global"}  # which helm adds
        assert known == set(values), path
        assert schema["additionalProperties"] is False, path
        for name in known:
            yield f"{path}{name}"
            yield from names(schema["properties"][name], values[name], f"{path}{name}.")

    assert len(list(names(SCHEMA, VALUES))) > 30
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    jsonschema.validate(VALUES, SCHEMA)


def test_settings_can_be_set_but_for_those_that_the_chart_derives() -> None:
    allowed = set(SCHEMA["properties"]["settings"]["propertyNames"]["anyOf"][0]["enum"])
    assert allowed == set(FIELDS) - NAMED - OWN - MANAGED


def test_the_templates_name_only_variables_of_the_program() -> None:
    text = "".join(file.read_text(encoding="utf-8") for file in (CHART / "templates").iterdir())
    named = set(re.findall(r"- name: ((?:E2G|NEO4J)_\w+)", text))
    assert named == NAMED | OWN


def test_the_page_names_what_there_is() -> None:
    assert set(re.findall(r"\b(?:E2G|NEO4J)_[A-Z_]+\b", PAGE)) <= {*FIELDS, "NEO4J_IMAGE"}
    metrics = set(Metrics().registry._names_to_collectors)
    named = set(re.findall(r"`(e2g_\w+)`", PAGE))
    assert len(named) > 5
    assert named <= metrics
    for command, options in re.findall(r"\be2g ([a-z]+(?: [a-z]+)?)\b((?: --[a-z-]+)*)", PAGE):
        assert_command([*command.split(), *options.split()])


# --- with helm ---------------------------------------------------------------------------------------


def helm(*arguments: str, values: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    need("helm")
    program = shutil.which("helm")
    assert program is not None
    return subprocess.run(
        [program, *arguments, "--values", "-"], input=json.dumps(values), capture_output=True, text=True, timeout=60
    )


def rendered(values: dict[str, Any], chart: Path = CHART) -> list[dict[str, Any]]:
    done = helm("template", "books", str(chart), "--namespace", "library", "--kube-version", "1.30.0", values=values)
    assert done.returncode == 0, done.stderr
    return [one for one in yaml.safe_load_all(done.stdout) if one]


def one(objects: list[dict[str, Any]], kind: str, name: str = "books-e2g-neo4j") -> dict[str, Any]:
    [found] = [each for each in objects if each["kind"] == kind and each["metadata"]["name"] == name]
    return found


def pods(objects: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The pod templates by component."""
    templates = [each["spec"]["template"] for each in objects if each["kind"] in ("Deployment", "Job")]
    return {each["metadata"]["labels"]["app.kubernetes.io/component"]: each for each in templates}


def variables(pod: dict[str, Any]) -> dict[str, Any]:
    [container] = pod["spec"]["containers"]
    found = {each["name"]: each.get("value", each.get("valueFrom")) for each in container["env"]}
    assert len(found) == len(container["env"])
    return found


def assert_command(words: list[str]) -> None:
    """Such words are a command of the program, with options that it has."""
    command: Any = get_command(app)
    options = [word for word in words if word.startswith("--")]
    for word in (word for word in words if not word.startswith("--")):
        if not isinstance(command, TyperGroup):
            return  # an argument, or the sentence goes on
        assert word in command.commands or command.invoke_without_command, words
        command = command.commands.get(word, command)
    known = {option for parameter in command.params for option in parameter.opts}
    assert {option.split("=")[0] for option in options} <= known, words


@BOTH
def test_helm_finds_nothing_to_complain_about(values: dict[str, Any]) -> None:
    done = helm("lint", "--strict", str(CHART), values=values)
    assert done.returncode == 0, done.stdout + done.stderr


@BOTH
def test_every_pod_is_confined(values: dict[str, Any]) -> None:
    found = pods(rendered(values))
    assert set(found) == {"service", "worker", "migrate"}
    for name, pod in found.items():
        spec = pod["spec"]
        [container] = spec["containers"]
        assert spec["securityContext"] == {
            "runAsNonRoot": True,
            "runAsUser": 10001,
            "runAsGroup": 10001,
            "seccompProfile": {"type": "RuntimeDefault"},
        }, name
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }, name
        assert spec["automountServiceAccountToken"] is False, name
        assert spec["enableServiceLinks"] is False, name
        assert spec["volumes"] == [{"name": "tmp", "emptyDir": {}}], name
        assert container["volumeMounts"] == [{"name": "tmp", "mountPath": "/tmp"}], name
        assert container["resources"]["limits"]["memory"], name
        assert not {"hostNetwork", "hostPID", "hostIPC"} & set(spec), name


@BOTH
def test_no_password_is_rendered_and_no_secret_made(values: dict[str, Any]) -> None:
    objects = rendered(values)
    assert not [each for each in objects if each["kind"] in ("Secret", "ConfigMap")]
    for pod in pods(objects).values():
        password = variables(pod)["NEO4J_PASSWORD"]
        assert password == {"secretKeyRef": {"name": "graph", "key": "password"}}


@BOTH
def test_the_program_knows_commands_and_variables(values: dict[str, Any]) -> None:
    for name, pod in pods(rendered(values)).items():
        [container] = pod["spec"]["containers"]
        assert "command" not in container  # the entry point of the image is e2g
        assert_command(container["args"])
        given = variables(pod)
        assert {each for each in given if not each.startswith("OTEL_")} <= set(FIELDS), name
        plain = {each.lower().removeprefix("e2g_"): text for each, text in given.items() if isinstance(text, str)}
        Settings.model_validate({each: text for each, text in plain.items() if each in Settings.model_fields})


@BOTH
def test_selectors_match_the_labels_of_pods(values: dict[str, Any]) -> None:
    objects = rendered(values)
    labels = {name: pod["metadata"]["labels"] for name, pod in pods(objects).items()}

    def selected(selector: dict[str, str]) -> list[str]:
        return [name for name, own in labels.items() if selector.items() <= own.items()]

    for each in objects:
        spec = each.get("spec", {})
        match each["kind"]:
            case "Deployment":
                component = each["metadata"]["labels"]["app.kubernetes.io/component"]
                assert selected(spec["selector"]["matchLabels"]) == [component]
            case "Service":
                assert selected(spec["selector"]) == ["service"]
            case "PodDisruptionBudget":
                assert selected(spec["selector"]["matchLabels"]) == ["service"]
            case "NetworkPolicy":
                assert len(selected(spec["podSelector"]["matchLabels"])) == 1


def test_the_service_is_probed_where_it_answers_and_has_time_to_stop() -> None:
    objects = rendered(REQUIRED)
    spec = pods(objects)["service"]["spec"]
    [container] = spec["containers"]
    [port] = container["ports"]
    assert port["containerPort"] == one(objects, "Service")["spec"]["ports"][0]["port"] == 8000
    for probe, path in (("startupProbe", "/livez"), ("livenessProbe", "/livez"), ("readinessProbe", "/readyz")):
        assert container[probe]["httpGet"] == {"path": path, "port": port["name"]}
        assert path in HEALTH
    pause = container["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert spec["terminationGracePeriodSeconds"] >= pause + 20  # all ends within 20 seconds of SIGTERM
    assert not [name for name in pods(objects)["worker"]["spec"]["containers"][0] if name.endswith("Probe")]


def test_the_schema_is_updated_before_anything_else() -> None:
    job = one(rendered(REQUIRED), "Job", "books-e2g-neo4j-migrate")
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    spec = job["spec"]["template"]["spec"]
    assert "serviceAccountName" not in spec  # that of the release does not exist yet
    assert not [each for each in spec["containers"][0]["env"] if "configMapKeyRef" in str(each)]


def test_ingress_autoscaling_and_options() -> None:
    objects = rendered(EVERYTHING)
    found = pods(objects)
    assert variables(found["service"])["E2G_PUBLIC_URL"] == "https://e2g.example.org"
    assert variables(found["worker"])["E2G_WORKERS"] == "4"
    assert variables(found["worker"])["E2G_CHAT_MODEL"] == "openai:some"
    assert "--mcp-write" in set(found["service"]["spec"]["containers"][0]["args"])
    ingress = one(objects, "Ingress")["spec"]
    assert ingress["tls"] == [{"hosts": ["e2g.example.org"], "secretName": "e2g-tls"}]
    assert ingress["rules"][0]["http"]["paths"][0]["backend"]["service"]["name"] == "books-e2g-neo4j"
    assert "replicas" not in one(objects, "Deployment")["spec"]  # or an upgrade would undo the scaling
    assert one(objects, "HorizontalPodAutoscaler")["spec"]["scaleTargetRef"]["name"] == "books-e2g-neo4j"
    for pod in found.values():
        assert pod["spec"]["containers"][0]["image"] == "registry.example.org/e2g-neo4j:1.2.3"
        assert pod["spec"]["imagePullSecrets"] == [{"name": "registry"}]
        assert pod["spec"]["containers"][0]["envFrom"] == [{"secretRef": {"name": "openai"}}]
    policies = {each["metadata"]["name"]: each["spec"] for each in objects if each["kind"] == "NetworkPolicy"}
    assert len(policies) == 3
    assert all(each["policyTypes"] == ["Ingress", "Egress"] for each in policies.values())
    assert [name for name, each in policies.items() if "ingress" in each] == ["books-e2g-neo4j-service"]


def test_without_an_ingress_the_address_is_that_in_the_cluster() -> None:
    objects = rendered(REQUIRED)
    assert {each["kind"] for each in objects} == {
        "Deployment",
        "Job",
        "PodDisruptionBudget",
        "Service",
        "ServiceAccount",
    }
    assert variables(pods(objects)["service"])["E2G_PUBLIC_URL"] == "http://books-e2g-neo4j.library.svc:8000"
    assert pods(objects)["service"]["spec"]["containers"][0]["image"].endswith(f":{VERSION}")
    digest = f"sha256:{'0' * 64}"
    pinned = rendered({**REQUIRED, "image": {**REQUIRED["image"], "tag": "1", "digest": digest}})
    assert pods(pinned)["service"]["spec"]["containers"][0]["image"].endswith(f"/e2g-neo4j@{digest}")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"neo4j": {"passwordSecret": {"name": "graph"}}}, "neo4j.uri is missing"),
        ({"neo4j": {"uri": "neo4j+s://graph.example.org"}}, "neo4j.passwordSecret.name is missing"),
        ({"image": {}}, "image.repository is missing"),
        ({"ingress": {"enabled": True}}, "ingress.host is missing"),
        ({"neo4j": {**REQUIRED["neo4j"], "password": "hunter2"}}, "'password' not allowed"),
        ({"neo4j": {**REQUIRED["neo4j"], "uri": "neo4j+s://user:hunter2@graph.example.org"}}, "does not match pattern"),
        ({"settings": {"E2G_TOPK": "5"}}, "E2G_TOPK"),
        ({"settings": {"E2G_TOP_K": 5}}, "got number, want string"),
        ({"worker": {"replicas": 0}}, "/worker/replicas"),
    ],
)
def test_values_that_cannot_be_used_are_refused(change: dict[str, Any], message: str) -> None:
    done = helm("template", "books", str(CHART), "--kube-version", "1.30.0", values={**REQUIRED, **change})
    assert done.returncode != 0
    assert message in done.stderr


def test_the_notes_say_how_to_make_the_first_key(tmp_path: Path) -> None:
    """As a template of its own, because `helm template` leaves the notes out."""
    chart = shutil.copytree(CHART, tmp_path / "chart")
    notes = chart / "templates" / "NOTES.txt"
    (chart / "templates" / "notes.yaml").write_text("kind: Notes\ntext: |\n" + indent(notes.read_text(), "  "))
    [text] = [each["text"] for each in rendered(REQUIRED, chart) if each["kind"] == "Notes"]
    text = text.replace("\\\n", " ")
    assert "--namespace library exec deployment/books-e2g-neo4j-worker" in text
    [words] = re.findall(r"\be2g (keys create .*)", text)
    assert_command([word for word in words.split() if word in ("keys", "create") or word.startswith("--")])
