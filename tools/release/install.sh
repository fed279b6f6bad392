#!/bin/sh
# Installs boxkeep from the directory of this script: sh install.sh [directory]; the default is /usr/local/bin.
set -eu

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

to=${1:-/usr/local/bin}
case $to in
/*) ;;
*) to=$PWD/$to ;;
esac
missing=
for program in chmod cp grep mkdir mv rm sha256sum uname; do
  # Nothing is sent to /dev/null, which a bare root may lack.
  [ -n "$(command -v "$program")" ] || missing="$missing $program"
done
[ -z "$missing" ] || fail "needs$missing, as busybox has them: install them, or copy the file for your machine yourself"

case $(uname -m) in
x86_64) machine=x64 ;;
aarch64 | arm64) machine=arm64 ;;
*) fail "boxkeep runs on x86-64 and arm64; this machine is $(uname -m)" ;;
esac
case $0 in
*/*) CDPATH='' cd -- "${0%/*}" ;;
esac
set -- boxkeep-*-linux-$machine
[ $# -eq 1 ] || fail "$PWD has files of several versions: $*"
[ -f "$1" ] || fail "$PWD has no file for $machine"
line=$(grep " $1\$" SHA256SUMS) || fail "SHA256SUMS of $PWD does not name $1"
echo "$line" | sha256sum -c - >&2 || fail "$1 is not the file that was released: copy the release again"

# A file that runs cannot be written to; another file may take its name.
new=$to/.boxkeep.new
mkdir -p "$to" && cp "$1" "$new" && chmod 755 "$new" ||
  fail "cannot write to $to: run this as root, or name another directory"
"$new" version || {
  rm -f "$new"
  fail "$1 does not run here, so $to is as it was"
}
mv -f "$new" "$to/boxkeep"
