#!/usr/bin/env bash
# Fail unless the version of a tag vX.Y.Z is that of the package, the chart and the change log.
#
#   scripts/check_release.sh TAG
set -euo pipefail
cd "$(dirname "$0")/.."
version=${1#v}
check() {
    grep -qF "$2" "$1" || { echo "$1 does not say $2: see the section Release of CONTRIBUTING.md." >&2; exit 1; }
}
check pyproject.toml "version = \"$version\""
check chart/Chart.yaml "version: $version"
check chart/Chart.yaml "appVersion: \"$version\""
check CHANGELOG.md "## [$version]"
echo "Version $version is that of the package, the chart and the change log."
