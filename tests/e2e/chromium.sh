#!/usr/bin/env bash
# Prints the path of a chromium-like browser of this machine, or fails. MNEMOLENS_CHROMIUM overrides.
set -euo pipefail
for name in ${MNEMOLENS_CHROMIUM:+"$MNEMOLENS_CHROMIUM"} chromium chromium-browser google-chrome google-chrome-stable; do
  command -v "$name" && exit 0
done
exit 1
