"""Put Cytoscape.js, which draws the graphs of the page, into the package: from Maven, and verified by its checksum."""

from __future__ import annotations

import runpy
import zipfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

COORDINATES = "org.webjars.npm:cytoscape:3.33.1"
SHA256 = "62ca1549b677163bd154184ac3b2d9686b082708d1c3364ca969e18869e107e5"
SCRIPT = "META-INF/resources/webjars/cytoscape/3.33.1/dist/cytoscape.esm.min.mjs"
TARGET = "e2g_neo4j/service/ui/cytoscape.js"


class FetchCytoscape(BuildHookInterface[Any]):
    """Runs for a wheel, and for an editable installation."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        maven = runpy.run_path(str(Path(self.root, "e2g_neo4j/runtime/maven.py")), run_name="maven")
        jar = maven["download"](maven["Artifact"](COORDINATES, SHA256), maven["load_context"]())
        with zipfile.ZipFile(jar) as archive:
            Path(self.root, TARGET).write_bytes(archive.read(SCRIPT))
        build_data["artifacts"].append(TARGET)
