#!/bin/sh
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# tidy.sh [-p build] [--since commit] [path...]: clang-tidy over the sources of src and tools that the build compiles, all or
# those under the paths. The build (default: build/release) must have been configured and built once: headers are generated.
# --since leaves out sources that clang-tidy would see as it did at that commit: neither they nor a file that they include
# has changed. Changes below abi/ count by the headers that it makes. All are looked at where the
# commit is not in the history, or where .clang-tidy or the flags have changed.
set -eu
cd "$(dirname "$0")/../.."
root=$PWD

find_tool() {
  for name in "clang-tidy-14" "clang-tidy"; do
    command -v "$name" && return
  done
  echo "tidy.sh: clang-tidy not found" >&2
  exit 2
}

tool=$(find_tool)
build=build/release
since=
while :; do
  case ${1:-} in
    -p) build=$2 ;;
    --since) since=$2 ;;
    *) break ;;
  esac
  shift 2
done
if [ ! -f "$build/compile_commands.json" ]; then
  echo "tidy.sh: no $build/compile_commands.json; configure first or name a build with -p" >&2
  exit 2
fi
[ $# -gt 0 ] || set -- src tools
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 - "$root" "$build" "$since" "$work" "$@" <<'END' >"$work/list"
import json, os, pathlib, re, subprocess, sys, tempfile
root, build, since, work, *paths = sys.argv[1:]
build = os.path.join(root, build)
wanted = [os.path.join(root, path.rstrip("/")) for path in paths]


def each(command):
    """The command for each of the sources that it compiles together: clang-tidy looks at one after the other."""
    if "/Unity/unity_" not in command["file"]:
        return [command]
    sources = re.findall(r'^#include "(.*)"', open(command["file"]).read(), re.MULTILINE)
    return [{**command, "file": source, "command": command["command"].replace(command["file"], source)} for source in sources]


commands = [one for command in json.load(open(os.path.join(build, "compile_commands.json"))) for one in each(command)]
for command in commands:  # without options that are g++'s alone
    command["command"] = re.sub(r" -fno-tree-loop-distribute-patterns| -Wno-subobject-linkage", "", command["command"])
json.dump(commands, open(os.path.join(work, "compile_commands.json"), "w"))


def output(*command):
    """What a command prints, None where it fails."""
    done = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return done.stdout if done.returncode == 0 else None


folders_of_headers = [os.path.join(root, "src"), os.path.join(root, "include"), os.path.join(root, "tools"), os.path.join(build, "generated")]


def reached(name, seen):
    """Our files that a source includes, and itself."""
    seen.add(name)
    for header in re.findall(r'^#include "(.*)"', open(name).read(), re.MULTILINE):
        for folder in [os.path.dirname(name)] + folders_of_headers:
            path = os.path.realpath(os.path.join(folder, header))
            if os.path.exists(path):
                if path not in seen:
                    reached(path, seen)
                break
    return seen


def dependencies():
    """The files that each object was compiled from, as the build knows them."""
    found, files = {}, None
    for line in (output("ninja", "-C", build, "-t", "deps") or "").splitlines():
        if line.startswith(" "):
            files.add(os.path.realpath(os.path.join(build, line.strip())))
        elif ": #deps" in line:
            files = set()
            if line.endswith("(VALID)"):  # others were compiled from something else
                found[line.split(": #deps")[0]] = files
    return found


def why_all(changed):
    if changed is None:
        return f"{since} is not in the history"
    for name in changed:
        if name in (".clang-tidy", "CMakePresets.json", "CMakeLists.txt", "cmake/flags.cmake"):
            return f"{name} has changed"
    return None


def headers(commit):
    """The headers that the build has from abi/, name to text: as of a commit, or of the working tree (None)."""
    with tempfile.TemporaryDirectory() as folder:
        tree = root
        if commit:
            tree, archive = folder, os.path.join(folder, "tar")
            if output("git", "archive", "-o", archive, commit, "abi", "src/mpi/object") is None:
                return None
            output("tar", "-xf", archive, "-C", folder)
        made = pathlib.Path(folder, "made")
        if output(sys.executable, os.path.join(tree, "abi", "generate.py"), "--out", made) is None:
            return None
        return {str(path.relative_to(made)): path.read_text() for path in made.rglob("*.h*")}


def chosen(files):
    if not since:
        return files
    tracked, new = output("git", "diff", "--name-only", "--no-renames", since), output("git", "ls-files", "-o", "--exclude-standard")
    changed = None if tracked is None or new is None else (tracked + new).splitlines()
    if reason := why_all(changed):
        print(f"tidy.sh: all sources, as {reason}", file=sys.stderr)
        return files
    changed = {os.path.realpath(os.path.join(root, name)) for name in changed}
    old, new = headers(since), headers(None)
    if old is None or new is None:
        print("tidy.sh: all sources, as abi/generate.py failed", file=sys.stderr)
        return files
    changed |= {os.path.realpath(os.path.join(build, "generated", name)) for name in new if new[name] != old.get(name)}
    # Flags of a folder's own are in its CMakeLists.txt.
    folders = tuple(os.path.dirname(name) + os.sep for name in changed if os.path.basename(name) == "CMakeLists.txt")
    known = dependencies()
    kept = set()
    for command in commands:
        name = os.path.normpath(os.path.join(command["directory"], command["file"]))
        made = re.search(r" -o (\S+)", command["command"])
        of = known.get(made[1]) if made else None
        if name in files and (of is None or of & changed & reached(name, set()) or name.startswith(folders)):
            kept.add(name)
    print(f"tidy.sh: {len(kept)} of {len(files)} sources have changed since {since}", file=sys.stderr)
    return kept


files = {os.path.normpath(os.path.join(c["directory"], c["file"])) for c in commands}
files = {name for name in files if os.path.exists(name) and any(name == w or name.startswith(w + os.sep) for w in wanted)}
# The longest first, so that none of them is left for one processor at the end.
for name in sorted(chosen(files), key=lambda name: (-os.path.getsize(name), name)):
    print(name)
END
xargs -r -P "$(nproc)" -n 1 "$tool" -p "$work" --quiet <"$work/list"
