# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Generates into the build, for OpenSHMEM: entry points, names for the linker's map, the link stub, and the functions that count
calls for statistics (docs/design/statistics.md)."""
import re

from build_files import BANNER, definition
from shmem_header import prototype

ENTRY_FILES = 6

# Never counted: starts, which come before the counters, and answers without work.
NOT_COUNTED = re.compile(r"shmem_(init(_thread)?|(query|info_get)_\w+|(team_)?(my_pe|n_pes|ptr)|(pe|addr)_accessible|"
                         r"team_(get_config|translate_pe)|ctx_get_team|pcontrol)|start_pes|_my_pe|_num_pes")
# Parts of names in which the functions of one call differ.
VARIANT = re.compile(r"(?<=shmem_)ctx_(?=fence|quiet|pe_quiet|signal_)|TYPE_|SIZE|(?<!sh)mem(?=_|$)|(?<=[a-z])(32|64)$")
KINDS = [  # the first that matches
    ("other", r"shmem_(ctx_\w+|team_(create|split|destroy)\w*|finalize|global_exit)"),
    ("collective", r"shmem_((team_)?(barrier|sync)(_all)?|broadcast|f?collect|alltoalls?|\w+_(reduce|to_all|inscan|exscan)|"
                   r"malloc\w*|calloc|align|realloc|free)|sh\w*(alloc|free|align)"),
    ("one_sided", r".*"),
]


def call_name(f):
    return VARIANT.sub("", f.family)


def kind(name):
    return next(k for k, pattern in KINDS if re.fullmatch(pattern, name))


def is_counted(f):
    return not NOT_COUNTED.fullmatch(f.name)


def call_names(functions):
    return list(dict.fromkeys(call_name(f) for f in functions if is_counted(f)))


def notes(f, names):
    """Statements that tell of the call's data, its PE and its team."""
    count = next((n for n in ("nelems", "nreduce", "nblocks") if n in names), None)
    size = f.size or (f"{int(f.name[-2:]) // 8}" if f.name[-2:].isdigit() else "sizeof(uint64_t)")  # in the name, or of a signal
    if "dest" in names and count:
        if call_name(f).startswith("shmem_alltoall"):
            size = f"bytes_of({'PE_size' if 'PE_size' in names else 'members_of(team)'}, {size})"
        elif "bsize" in names:
            size = f"bytes_of(bsize, {size})"
        yield f"here.data(bytes_of({count}, {size}));"
    elif "pe" in names:
        yield f"here.data({size});"
    if "pe" in names:
        yield f"here.with({'ctx' if 'ctx' in names else 'SHMEM_CTX_DEFAULT'}, pe);"
    if "shmem_team_t team" in f.params:
        yield "here.on(team);"
    elif f.name in ("shmem_barrier_all", "shmem_sync_all"):
        yield "here.on(SHMEM_TEAM_WORLD);"


def counted_cpp(f, params, names):
    """The function that counts a call around what its entry point does."""
    lines = ["namespace {", definition(f"[[gnu::cold, gnu::noinline]] {f.returns} counted_{f.name}", params, " {"),
             f"  Counted here(stats::Call::{call_name(f).lower()}_);", *(f"  {note}" for note in notes(f, names))]
    lines += [f"  {f.body};", "  here.finish();"] if f.returns == "void" else [f"  return here.end({f.body});"]
    return "\n".join([*lines, "}", "}  // namespace", ""])


def entry_cpp(functions):
    lines = [BANNER + '#include "shmem/functions.hpp"\n\n'
             "#define WEFT_ENTRY extern \"C\" __attribute__((visibility(\"default\")))\n"
             "#define WEFT_ALIAS(of) __attribute__((weak, alias(#of), visibility(\"default\")))\n\n"
             "using namespace weft;\nusing namespace weft::shmem;\n"]
    for f in functions:
        head, params = prototype(f, "p")
        alias_head, _ = prototype(f)
        params = [] if params == ["void"] else params
        names = [p.rpartition(" ")[2].lstrip("*") for p in params if p != "..."]
        body = "".join(f"  (void){name};\n" for name in f.unused)
        if is_counted(f):
            used = {name: param for name, param in zip(names, params) if name not in f.unused}
            lines.append(counted_cpp(f, list(used.values()), names))
            body += f"  if (state.counts) [[unlikely]]\n    return counted_{f.name}({', '.join(used)});\n"
        if f.body:
            body += f"  {'' if f.returns == 'void' else 'return '}{f.body};\n"
        lines.append(definition("WEFT_ENTRY " + head, params, f" {{\n{body}}}"))
        lines.append(definition("WEFT_ENTRY " + alias_head, params, f" WEFT_ALIAS(p{f.name});") + "\n")
    return "\n".join(lines)


def entry_files(functions):
    share = -(-len(functions) // ENTRY_FILES)
    for i in range(ENTRY_FILES):
        yield f"shmem_entry_{i}.cpp", entry_cpp(functions[i * share:(i + 1) * share])


def exported(functions):
    return [prefix + f.name for f in functions for prefix in ("", "p")]
