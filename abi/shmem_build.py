# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Files generated into the build for OpenSHMEM: entry points, names for the linker's map, the link stub; and what statistics
count of its calls (docs/explaining.md)."""
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


def entry_cpp(functions):
    lines = [BANNER + '#include "shmem/functions.hpp"\n\n'
             "#define WEFT_ENTRY extern \"C\" __attribute__((visibility(\"default\")))\n"
             "#define WEFT_ALIAS(of) __attribute__((weak, alias(#of), visibility(\"default\")))\n\n"
             "using namespace weft::shmem;\n"]
    for f in functions:
        head, params = prototype(f, "p")
        alias_head, _ = prototype(f)
        params = [] if params == ["void"] else params
        body = "".join(f"  (void){name};\n" for name in f.unused)
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
