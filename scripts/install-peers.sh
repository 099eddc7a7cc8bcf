#!/bin/sh
# Installs the other macaroon implementations, compilers and shells that the interoperability and
# end-to-end tests need (Debian or Ubuntu). Does nothing if all of them are installed.
set -eu

packages="python3-pymacaroons python3-nacl libmacaroons-dev golang-go golang-gopkg-macaroon.v2-dev \
gcc zsh fish chromium sqlite3"

fail() {
  echo "install-peers: $1" >&2
  exit 1
}

installed() {
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

command -v apt-get >/dev/null 2>&1 || fail "apt-get not found; install by hand: $packages"

missing=
for package in $packages; do
  installed "$package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null 2>&1 || fail "run this as root, or install sudo; missing:$missing"
  as_root=sudo
fi

$as_root apt-get -qq update || fail "apt-get update failed; missing:$missing"
# The variable is not quoted, so that the shell splits the list of package names.
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive \
  apt-get -qq -y --no-install-recommends install $missing >/dev/null ||
  fail "could not install:$missing"
