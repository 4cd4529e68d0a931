#!/bin/sh
# Installs the Debian packages of the given sections of tools/packages.txt (default: all sections).
# Prints nothing if all of them are installed.
#
#   tools/deps.sh [--print] [section ...]        --print: only list the missing packages
set -eu

list=$(dirname "$0")/packages.txt
print_only=no
if [ "${1:-}" = "--print" ]; then
  print_only=yes
  shift
fi

for section in "$@"; do
  if ! grep -qx "\[$section\]" "$list"; then
    echo "tools/deps.sh: no section '$section' in tools/packages.txt; the sections are:" \
      "$(sed -n 's/^\[\(.*\)\]$/\1/p' "$list" | tr '\n' ' ')" >&2
    exit 2
  fi
done

packages_of() {
  awk -v wanted=" $* " '
    /^#/ || /^$/ { next }
    /^\[/ { section = substr($0, 2, length($0) - 2); next }
    wanted == "  " || index(wanted, " " section " ") { print $1 }' "$list" | sort -u
}

# A Node.js from another source conflicts with Debian's npm. Version 18 or newer is sufficient.
node_is_good() {
  command -v npm >/dev/null 2>&1 || return 1
  major=$(node --version 2>/dev/null | sed -n 's/^v\([0-9]*\)\..*/\1/p')
  [ "${major:-0}" -ge 18 ]
}

missing() {
  # dpkg-query fails on unknown packages; they count as missing.
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null |
    sed -n 's/^installed //p') || true
  for package in "$@"; do
    case $package in
      nodejs | npm) node_is_good && continue ;;
    esac
    printf '%s\n' "$installed" | grep -qxF "$package" || printf '%s ' "$package"
  done
}

# shellcheck disable=SC2046  # Package names have no spaces; the list is meant to be split.
needed=$(missing $(packages_of "$@"))
[ -n "$needed" ] || exit 0
if [ "$print_only" = yes ]; then
  echo "$needed"
  exit 0
fi

as_root=
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null 2>&1; then
    echo "Debian packages are missing. Install them as root: apt-get install $needed" >&2
    exit 1
  fi
  as_root=sudo
fi

echo "Installing Debian packages: $needed"
log=$(mktemp)

# The packages of PostgreSQL, Redis and RabbitMQ start a service when they are installed. Tests
# start servers of their own, so no service is wanted: maintainer scripts ask this program, and 101
# means no. A policy that the machine has already is left alone; one that a killed run has left is
# removed.
policy=/usr/sbin/policy-rc.d
policy_mark="# Made by tools/deps.sh for the time of an installation."
forbid_services() {
  if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\n%s\nexit 101\n' "$policy_mark" | $as_root tee "$policy" >/dev/null
    $as_root chmod 755 "$policy"
  fi
}
clean_up() {
  rm -f "$log"
  if grep -qsxF "$policy_mark" "$policy"; then
    $as_root rm -f "$policy"
  fi
}
trap clean_up EXIT
trap 'exit 1' HUP INT TERM
forbid_services

install_now() {
  # npm depends on 350 small packages. An fsync for each file would take minutes and is not needed:
  # a second run can repeat the installation.
  # shellcheck disable=SC2086
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    -o Dpkg::Options::=--force-unsafe-io $needed >"$log" 2>&1
}
# The package lists may be missing or outdated: update them once and try again.
if ! install_now; then
  $as_root apt-get update -qq >>"$log" 2>&1 || true
  if ! install_now; then
    cat "$log" >&2
    echo "apt-get could not install: ${needed}(its output is above)." >&2
    exit 1
  fi
fi
