# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Files generated into the build for OpenSHMEM: entry points, names for the linker's map, the link stub."""
from build_files import BANNER, definition
from shmem_header import prototype

ENTRY_FILES = 6


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
