#!/usr/bin/env bash
# Build the wheel and the source distribution into dist/, install the wheel as a user would, and ask a first question.
#
#   scripts/try_wheel.sh [PYTHON]
set -euo pipefail
cd "$(dirname "$0")/.."
python=${1:-python3}
folder=$(mktemp -d)
trap '"$folder/venv/bin/e2g" db stop || true; rm -rf "$folder"' EXIT

rm -rf dist
"$python" -m venv "$folder/build"
"$folder/build/bin/pip" install --quiet build
"$folder/build/bin/python" -m build --outdir dist
wheel=$(echo "$PWD"/dist/*.whl)

cd "$folder"
export E2G_HOME=$folder/home
"$python" -m venv venv
venv/bin/pip install --quiet "$wheel"
du -sm venv | awk '{ print "The environment takes " $1 " MB." }'
echo "Piet Maarsen kept the light on Gannet Head. Edith Pelling wrote to Piet Maarsen each winter." > letters.txt
venv/bin/e2g index letters.txt --corpus letters
venv/bin/e2g query "Who wrote to Piet Maarsen?" --corpus letters | tee answer.txt
grep -q "Edith Pelling wrote" answer.txt
