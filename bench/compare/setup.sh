#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the Python environment with TensorFlow that run.py looks for (about 1.5 GB; nothing else in the tree needs it).
#   bench/compare/setup.sh [WHEEL]     a local wheel instead of the one from the Python registry
set -euo pipefail
cd "$(dirname "$0")/../.."
venv=.cache/tf_venv
[ -x $venv/bin/python ] || python3 -m venv $venv
$venv/bin/python -c 'import tensorflow' 2>/dev/null || $venv/bin/pip install --quiet "${1:-tensorflow-cpu==2.21.0}"
echo "$PWD/$venv/bin/python"
