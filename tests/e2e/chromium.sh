#!/usr/bin/env bash
# Prints the path of a chromium-like browser of this machine, or fails. CHROMIUM overrides.
set -euo pipefail
for name in ${CHROMIUM:+"$CHROMIUM"} chromium chromium-browser google-chrome google-chrome-stable; do
  command -v "$name" && exit 0
done
exit 1
