#!/bin/bash
# greet someone
greet() {
  local name="$1"
  if [[ -n "$name" ]]; then
    echo "Hello, ${name}!"
  fi
}
greet "$(whoami)" | tee out.log
