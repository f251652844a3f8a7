#!/bin/sh
# Writes the file system of a small Debian as a tar archive to the standard output. usage: build.sh MIRROR
# Plain http, since the base holds no certificates; apt checks signatures anyway.
set -eu
exec mmdebstrap --quiet --variant=apt --aptopt='APT::Install-Recommends "0"' --dpkgopt=force-unsafe-io \
  --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
  --dpkgopt='path-exclude=/usr/share/locale/*' trixie - "$1"
