#!/bin/sh
# Runs clang-tidy on every source in src/ that the build compiles, except tests.
#
#   tools/clang_tidy.sh BUILD_DIRECTORY [JOBS]
set -eu

build=${1:?usage: tools/clang_tidy.sh BUILD_DIRECTORY [JOBS]}
jobs=${2:-$(nproc)}

sed -n 's/^ *"file": "\(.*\)",*$/\1/p' "$build/compile_commands.json" |
  grep -v '/build/\|_test\.cc$' | grep '/src/' | sort -u |
  xargs -r -P "$jobs" -n 1 clang-tidy-19 --quiet -p "$build" \
    --extra-arg=-Wno-unknown-warning-option --extra-arg=-Qunused-arguments
