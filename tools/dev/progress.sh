#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# progress.sh LOG: reads what ninja or ctest prints, keeps it all in LOG, and prints a line every ten seconds on how far they
# are and how long the rest may take, also where they are silent; and whatever a failed test printed, at once.
set -uo pipefail
log=$1 every=10
exec 3>"$log"
begin=$SECONDS last=$SECONDS
now="" failed=0 part="" line="" done_of=0 all_of=0
# Tells how long the rest may take. Steps differ, so it is rounded to half a minute.
left() {
  if ((done_of * 20 > all_of && done_of < all_of)); then
    local rest=$(((SECONDS - begin) * (all_of - done_of) / done_of))
    printf ', about %d min %02d s left' $(((rest + 15) / 60)) $(((rest + 15) / 30 % 2 * 30))
  fi
}
tell() {
  printf '  %4d s  %s%s\n' $((SECONDS - begin)) "${now:-begins}" "$(left)"
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
    done_of=${BASH_REMATCH[1]} all_of=${BASH_REMATCH[2]}
    now="$done_of of $all_of steps of the build"
  elif [[ $line =~ $ended ]]; then
    done_of=${BASH_REMATCH[1]} all_of=${BASH_REMATCH[2]}
    count="$done_of of $all_of tests"
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
