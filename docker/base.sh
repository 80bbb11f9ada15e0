#!/usr/bin/env bash
# Makes its base image by docker/redis/base.sh, which is also in the program: lockbench image.
exec bash "$(dirname "$0")/redis/base.sh" "$@"
