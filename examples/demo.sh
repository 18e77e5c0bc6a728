#!/bin/sh
# Runs Kaiak's main job on a copy of the example project: find, show, fix,
# look again. Needs no key and no network. usage: demo.sh path/to/kaiak
set -eu
kaiak=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R "$here/shop" "$work/shop"
KAIAK_STATE_DIR=$work/state
export KAIAK_STATE_DIR
cd "$work/shop"

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }

say '$ kaiak check            (what has to change)'
"$kaiak" check || [ $? -eq 1 ]

say '$ kaiak batch --workspace . --rules builtin            (dry run: nothing is written)'
"$kaiak" batch --workspace . --rules builtin || [ $? -eq 1 ]

say '$ kaiak batch --workspace . --rules builtin --apply --verbose --report report.json'
"$kaiak" batch --workspace . --rules builtin --apply --verbose --report "$work/report.json" || [ $? -eq 1 ]

say '$ kaiak check            (what is left is what no rule can decide)'
"$kaiak" check || [ $? -eq 1 ]
