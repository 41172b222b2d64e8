#!/usr/bin/env bash
# Fail unless the version of a tag vX.Y.Z is that of the package, the chart and the change log.
#
#   scripts/check_release.sh TAG
#
# To release:
# 1. Run `.ci/run` on a fresh machine, then `E2G_TEST_REQUIRE=ollama,chromium,nginx make test-all`, which takes more than 90
#    minutes on two cores, and `E2G_TEST_PERTURB=1 make test`.
# 2. If ranking or chunking changed, measure again, and take the figures over with `benchmarks/record.py`.
# 3. Set the version in `pyproject.toml` and, twice, in `chart/Chart.yaml`. In `CHANGELOG.md`, rename *Unreleased* to the
#    version and date, and start a new one.
# 4. Run this script, and `scripts/try_wheel.sh`.
# 5. Commit "Release X.Y.Z", tag it, push commit and tag: `.github/workflows/release.yml` runs both scripts and publishes.
set -euo pipefail
cd "$(dirname "$0")/.."
version=${1#v}
check() {
    grep -qF "$2" "$1" || { echo "$1 does not say $2: see the steps at the top of scripts/check_release.sh." >&2; exit 1; }
}
check pyproject.toml "version = \"$version\""
check chart/Chart.yaml "version: $version"
check chart/Chart.yaml "appVersion: \"$version\""
check CHANGELOG.md "## [$version]"
echo "Version $version is that of the package, the chart and the change log."
