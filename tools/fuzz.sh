#!/bin/sh
# Runs every libFuzzer target of a build for SECONDS (default 30). Crashing inputs are stored in
# BUILD_DIRECTORY/crashes.
#
#   tools/fuzz.sh BUILD_DIRECTORY [SECONDS]
set -eu

build=${1:?usage: tools/fuzz.sh BUILD_DIRECTORY [SECONDS]}
seconds=${2:-30}

mkdir -p "$build/crashes"
failed=0
for target in "$build"/*_fuzz; do
  name=$(basename "$target")
  corpus="$build/corpus/$name"
  mkdir -p "$corpus"
  if "$target" -max_total_time="$seconds" -timeout=10 -artifact_prefix="$build/crashes/$name-" \
    "$corpus" >"$build/$name.log" 2>&1; then
    echo "$name: $(sed -n 's/^Done //p' "$build/$name.log")"
  else
    tail -n 40 "$build/$name.log" >&2
    echo "$name: failed; see $build/$name.log" >&2
    failed=1
  fi
done
exit $failed
