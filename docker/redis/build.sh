#!/usr/bin/env bash
# Builds the image of the docker backend, lockbench/redis:7, if it is missing.
#
#   docker/build.sh           build it once; a second call does nothing
#   docker/build.sh --again   build it again, for example after a change of the Dockerfile
#
# The base image is pulled, or made by base.sh where no registry answers. Needs a
# running Docker engine. Takes 10 s, and half a minute more for base.sh.
set -euo pipefail
cd "$(dirname "$0")"

image=lockbench/redis:7
base=${BASE:-debian:bookworm-slim}

docker version >/dev/null || {
	echo "build.sh: want a running Docker engine. Debian/Ubuntu: apt-get install docker.io, then systemctl start docker" >&2
	exit 1
}
if [ "${1:-}" != --again ] && docker image inspect $image >/dev/null 2>&1; then
	echo "build.sh: $image is there"
	exit 0
fi
docker image inspect "$base" >/dev/null 2>&1 || timeout 60 docker pull -q "$base" || BASE=$base bash ./base.sh

# The old builder takes a base that is only here; the new one may ask a registry first.
DOCKER_BUILDKIT=${DOCKER_BUILDKIT:-0} docker build -q --force-rm --build-arg "BASE=$base" -t $image .
echo "build.sh: built $image"
