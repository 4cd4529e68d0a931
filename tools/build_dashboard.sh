#!/bin/sh
# Builds the web application in web/. CMake calls it (cmake/PostriderDashboard.cmake).
#
#   tools/build_dashboard.sh install OUTPUT     installs the packages in web/node_modules
#   tools/build_dashboard.sh build OUTPUT       writes the application to OUTPUT/dist, and what the
#                                               program embeds to OUTPUT/dashboard_files.cc
#
# The output of npm is in OUTPUT/<step>.log. It is printed if npm fails.
set -eu

step=$1
mkdir -p "$2"
output=$(cd "$2" && pwd)
tools=$(cd "$(dirname "$0")" && pwd)
log=$output/$step.log
cd "$tools/../web"
export NO_COLOR=1 CI=1

logged() {
  "$@" >"$log" 2>&1 </dev/null && return
  cat "$log" >&2
  echo "tools/build_dashboard.sh: \`$*\` failed in web/ (its output is above)." >&2
  return 1
}

hint() {
  echo "$1 To build without the dashboard: cmake -DPOSTRIDER_DASHBOARD=OFF $(dirname "$output")" >&2
  exit 1
}

# Another build tree may have installed them in the meantime.
install_packages() {
  installed=node_modules/.package-lock.json
  if [ -e "$installed" ] && [ ! package-lock.json -nt "$installed" ]; then
    return
  fi
  logged npm ci --no-audit --no-fund --loglevel=error ||
    hint "Check the connection to the npm registry and run the build again."
  touch "$installed"
}

case $step in
  install)
    exec 9<package-lock.json
    flock 9
    install_packages
    ;;
  build)
    logged npm run build -- --outDir "$output/dist" --emptyOutDir ||
      hint "Correct the error, or run \`npm ci\` in web/ if packages are missing."
    node "$tools/pack_dashboard.mjs" "$output/dist" "$output"
    ;;
  *)
    echo "tools/build_dashboard.sh: unknown step '$step'; use install or build" >&2
    exit 2
    ;;
esac
