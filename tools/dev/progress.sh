#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# progress.sh LOG: reads what ninja or ctest prints, keeps it all in LOG, and prints a line every ten seconds on how far they
# are, also where they are silent; and whatever a failed test printed, at once.
set -uo pipefail
log=$1 every=10
exec 3>"$log"
begin=$SECONDS last=$SECONDS
now="" failed=0 part="" line=""
tell() {
  printf '  %4d s  %s\n' $((SECONDS - begin)) "${now:-begins}"
  last=$SECONDS
}
passed='^ *[0-9]+/[0-9]+ Test +#[0-9]+: .*[ .](Passed|\*\*\*Skipped)'
ended='^ *([0-9]+)/([0-9]+) Test +#[0-9]+: '
built='^\[([0-9]+)/([0-9]+)\] '
# Other lines of ctest when nothing is wrong.
quiet='^ *(Start +[0-9]+: .*|Internal ctest changing.*|Test project .*|)$'
failing=false over=false
while true; do
  if IFS= read -r -t "$every" part; then
    line+=$part
  else
    status=$?
    line+=$part
    if [ $status -gt 128 ]; then  # nothing came for a while
      tell
      continue
    fi
    [ -n "$line" ] || break
  fi
  printf '%s\n' "$line" >&3
  if $over; then
    :  # the summary, which is the caller's to show
  elif [[ $line =~ $built ]]; then
    now="${BASH_REMATCH[1]} of ${BASH_REMATCH[2]} steps of the build"
  elif [[ $line =~ $ended ]]; then
    count="${BASH_REMATCH[1]} of ${BASH_REMATCH[2]} tests"
    if [[ $line =~ $passed ]]; then
      failing=false
    else
      failing=true
      failed=$((failed + 1))
    fi
    now="$count, $failed failed"
    if $failing; then printf '%s\n' "$line"; fi
  elif [[ $line =~ ^[0-9]+%\ tests\ passed ]]; then
    over=true
  elif $failing && ! [[ $line =~ $quiet ]]; then
    printf '%s\n' "$line"
  fi
  if ((SECONDS - last >= every)); then tell; fi
  line=""
done
if [ -n "$now" ]; then tell; fi
