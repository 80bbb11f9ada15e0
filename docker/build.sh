#!/usr/bin/env bash
# Builds the image of the docker backend by docker/redis/build.sh, which is also in the program: lockbench image.
exec bash "$(dirname "$0")/redis/build.sh" "$@"
