# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Open MPI's ABI, as foreign.py wants to know it: handles are pointers, and predefined ones are addresses of data symbols
of exactly Open MPI's sizes (src/foreign/abi_openmpi.hpp)."""
import foreign
import roles
from build_files import BANNER

ATTRIBUTE_FUNCTIONS = [f"MPI_{kind}{name}" for kind in ("", "COMM_", "TYPE_", "WIN_") for name in ("NULL_COPY_FN", "DUP_FN", "NULL_DELETE_FN")]
MARK = 0x57454654  # the first word of each symbol, "WEFT"


class OpenMpi(foreign.Abi):
    name = "openmpi"
    title = "Open MPI's ABI"
    by_hand = foreign.BY_HAND + "|MPI_Comm_split_type|MPI_Error_class"
    objects_pass = True

    def predefined(self):
        """The rows of the table whose value is a symbol."""
        return [c for c in self.data["constants"] + self.data["only_theirs"] if c["type"] in roles.HANDLES]

    def symbols(self):
        return self.data["symbols"] + list(dict.fromkeys(c["value"] for c in self.predefined()))

    def standard_values(self, standard):
        """The standard's value of each symbol; 0 where the standard has no such object, so that functions refuse it."""
        by_name = {c["name"]: c["value"] for c in standard}
        made = {}
        for c in self.predefined():
            made.setdefault(c["value"], by_name.get(c.get("same_as", c["name"]), 0))
        return made

    def handle_lines(self, standard):
        by_symbol = self.standard_values(standard)
        lines = [f"inline constexpr uint32_t predefined_mark = 0x{MARK:08x};",
                 f"inline constexpr uintptr_t predefined_bytes = {sum(self.bytes_of().values())};",
                 f"inline constexpr int predefined_count = {max(by_symbol.values()) + 1};",
                 f"inline constexpr int symbol_count = {len(by_symbol)};\n"]
        lines.append("// Fortran's numbers of the standard's predefined handles.\nstruct NumberRow {\n  uint16_t standard;\n  uint8_t fortran;\n};")
        for type_ in sorted(roles.HANDLES):
            rows = [c for c in self.predefined() if c["type"] == type_ and "fortran" in c and by_symbol[c["value"]]]
            lines.append(f"inline constexpr NumberRow {type_}_numbers[] = {{")
            lines += [f"    {{0x{by_symbol[c['value']]:03x}, {c['fortran']}}},  // {c['name']}" for c in rows] or ["    {},"]
            lines.append("};")
        return lines + [""]

    def bytes_of(self):
        return {c["value"]: self.data["sizes"][c["type"]] for c in self.predefined()}

    def symbols_cpp(self, standard):
        """The symbols in one block, by assembler: a compiler's sanitizer would make them larger. Tables hold their addresses,
        which the dynamic linker fills in: those of the program's copies, where it has some."""
        sizes, values = self.bytes_of(), self.standard_values(standard)
        lines = [BANNER + '#include "foreign/abi_openmpi.hpp"\n', '__asm__(R"(', "  .data", "  .balign 64",
                 "  .hidden weft_predefined", "  .globl weft_predefined", "weft_predefined:"]
        for symbol, size in sizes.items():
            lines += [f"  .globl {symbol}", f"  .type {symbol}, @object", f"  .size {symbol}, {size}",
                      f"{symbol}: .long 0x{MARK:08x}, 0x{values[symbol]:03x}", f"  .zero {size - 8}"]
        lines += ["  .text", ')");\n', 'extern "C" {']
        lines += [f"extern char {symbol}[];" for symbol in sizes]
        lines += ["}\n", "namespace weft::foreign {\n", "char* const symbols[symbol_count] = {"]
        lines += [f"    {symbol}," for symbol in sizes]
        lines += ["};\n", "char* const predefined_theirs[predefined_count] = {"]
        names = {c["name"]: c["value"] for c in self.data["constants"]}
        # Programs in C know no other name of some.
        names.update({c["same_as"]: c["value"] for c in self.data["only_theirs"] if c.get("preferred")})
        to_theirs = {c["value"]: names[c["name"]] for c in standard if c["type"] in roles.HANDLES and c["name"] in names}
        lines += [f"    {to_theirs[i]},  // 0x{i:03x}" if i in to_theirs else "    nullptr," for i in range(max(values.values()) + 1)]
        return "\n".join(lines) + "\n};\n\n}  // namespace weft::foreign\n"

    def header_types(self):
        lines = ["#define OPEN_MPI 1"]
        lines += [f"typedef struct weft_test_{t.lower()} *{t};" for t in sorted(roles.HANDLES)]
        lines += ["typedef struct MPI_Status {", "  int MPI_SOURCE;", "  int MPI_TAG;", "  int MPI_ERROR;", "  int _cancelled;",
                  "  unsigned long _ucount;", "} MPI_Status;"]
        return lines + [f"extern char {symbol}[];" for symbol in self.bytes_of()]

    def header_constants(self, standard):
        lines = [f"#define {name} OMPI_C_{name}" for name in ATTRIBUTE_FUNCTIONS]
        lines += ["#define MPI_CONVERSION_FN_NULL ((MPI_Datarep_conversion_function *)0)",
                  "#define MPI_CONVERSION_FN_NULL_C ((MPI_Datarep_conversion_function_c *)0)"]
        known = self.data["constants"] + self.data["only_theirs"]
        # Constants that Open MPI lacks get the stand-in or the standard's value.
        names = {c["name"] for c in known}
        for c in standard:
            stand_in = self.data["stand_ins"].get(c["name"])
            if c["name"] not in names and c["type"] != "alias" and c["type"] not in roles.HANDLES and not c["name"].endswith(("_FN", "_FN_NULL", "_FN_NULL_C", "VERSION")):
                known = known + [{"name": c["name"], "type": c["type"], "value": self.values[stand_in] if stand_in else c["value"]}]
        return lines + [f"#define {c['name']} ({c['value']})" if c["type"] == "int" else f"#define {c['name']} (({c['type']}){c['value']})"
                        for c in known]


OPENMPI = OpenMpi()


def build_files(functions, ready, constants):
    yield from foreign.build_files(OPENMPI, functions, ready, constants)
    yield "openmpi_symbols.cpp", OPENMPI.symbols_cpp(constants["constants"])
