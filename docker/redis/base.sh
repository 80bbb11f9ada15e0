#!/usr/bin/env bash
# Makes the base image debian:bookworm-slim from the Debian archive, for a machine that
# reaches that archive but no container registry. Does nothing if the image is there.
#
#   docker/base.sh
#
# Needs debootstrap (Debian/Ubuntu: apt-get install debootstrap), root or passwordless
# sudo, and a running Docker engine. Takes half a minute.
#
#   BASE=name:tag    name of the image, default debian:bookworm-slim
#   MIRROR=url       Debian archive, default http://deb.debian.org/debian
set -euo pipefail

base=${BASE:-debian:bookworm-slim}
mirror=${MIRROR:-http://deb.debian.org/debian}

if docker image inspect "$base" >/dev/null 2>&1; then
	echo "base.sh: $base is there"
	exit 0
fi
PATH=$PATH:/usr/sbin:/sbin
if ! command -v debootstrap >/dev/null; then
	echo "base.sh: want debootstrap on PATH, found none. Debian/Ubuntu: apt-get install debootstrap" >&2
	exit 1
fi
as_root() {
	if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

dir=$(mktemp -d)
trap 'as_root rm -rf --one-file-system "$dir"' EXIT
root=$dir/root
if ! as_root debootstrap --variant=minbase bookworm "$root" "$mirror" >"$dir/log" 2>&1; then
	tail -n 20 "$dir/log" >&2
	echo "base.sh: debootstrap failed; it wants root and $mirror" >&2
	exit 1
fi
# What the slim image leaves out: package files and lists, manuals and translations.
as_root rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/* \
	"$root"/usr/share/{doc,info,locale,man}/*
as_root tar -C "$root" -c . | docker import --change 'CMD ["bash"]' - "$base" >/dev/null
echo "base.sh: made $base"
