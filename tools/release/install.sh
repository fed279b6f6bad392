#!/bin/sh
# Installs boxkeep from the directory of this script: sh install.sh [directory]; the default is /usr/local/bin.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
to=${1:-/usr/local/bin}
case $(uname -m) in
x86_64) machine=x64 ;;
aarch64 | arm64) machine=arm64 ;;
*)
  echo "boxkeep runs on x86-64 and arm64; this machine is $(uname -m)" >&2
  exit 1
  ;;
esac
file=$(cd "$here" && echo boxkeep-*-linux-$machine)
[ -f "$here/$file" ] || {
  echo "$here has no file for $machine" >&2
  exit 1
}
(cd "$here" && grep " $file\$" SHA256SUMS | sha256sum -c -) >&2
mkdir -p "$to"
# A file that runs cannot be written to; another file may take its name.
cp "$here/$file" "$to/.boxkeep.new"
chmod 755 "$to/.boxkeep.new"
mv -f "$to/.boxkeep.new" "$to/boxkeep"
"$to/boxkeep" version
