#!/bin/bash
set -euo pipefail

DIR="${1:-/tmp/work}"
LOG=$DIR/log.txt

log() {
  local level=$1
  shift
  echo "$(date +%s) [$level] $*" >> "$LOG"
}

fetch() {
  for url in "$@"; do
    if curl -sf "$url" -o "$DIR/out"; then
      log info "fetched $url"
    else
      log warn "failed $url"
      return 1
    fi
  done
}

mkdir -p "$DIR"
if [ -f "$LOG" ]; then
  rm "$LOG"
fi

case "$DIR" in
  /tmp/*) log info temporary ;;
  *) log warn permanent ;;
esac

while read -r line; do
  echo "$line" | grep -q foo && fetch "$line"
done < urls.txt

which git > /dev/null && git status | head -n 3
export PATH=$PATH:$HOME/bin
