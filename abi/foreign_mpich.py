# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""MPICH's ABI, as foreign.py wants to know it: handles are integers, and those of files pointers."""
import foreign
import roles

INT_HANDLES = sorted(roles.HANDLES - {"MPI_File"})


def handle_rows(handles, mask):
    """Handles by their low bits (src/foreign/abi_mpich.hpp). Those whose low bits others share, and null handles beside
    predefined ones, stand in a second list."""
    first, second = {}, []
    for theirs, standard, name in sorted(handles, key=lambda h: h[0] >> 30 != 1):
        place = theirs & mask
        if place in first:
            second.append((theirs, standard, name))
        else:
            first[place] = (theirs, standard, name)
    return [first.get(i) for i in range(mask + 1)], second


class Mpich(foreign.Abi):
    name = "mpich"
    title = "MPICH's ABI"

    def symbols(self):
        return self.data["symbols"]

    def handle_lines(self, standard):
        lines = ["struct HandleRow {\n  uint32_t theirs;\n  uint32_t standard;\n};\n"]
        to_theirs = {}
        by_name = {c["name"]: c["value"] for c in standard}
        for type_ in INT_HANDLES:
            handles = []
            for c in standard:
                if c["type"] == type_ and c["name"] in self.values:
                    handles.append((self.values[c["name"]], c["value"], c["name"]))
                    to_theirs[c["value"]] = (self.values[c["name"]], c["name"])
            for c in self.data["only_theirs"]:
                if c["type"] == type_ and "same_as" in c:
                    handles.append((foreign.value_of(c), by_name[c["same_as"]], c["name"]))
                    # Programs are given this one: most know no other.
                    to_theirs[by_name[c["same_as"]]] = (foreign.value_of(c), c["name"])
            mask = 0xff if type_ == "MPI_Datatype" else 0xf
            first, second = handle_rows(handles, mask)
            lines.append(f"inline constexpr HandleRow {type_}_rows[] = {{")
            # An empty place holds a value that stands elsewhere, so that nothing matches it.
            lines += [f"    {{0x{row[0]:08x}, 0x{row[1]:03x}}},  // {row[2]}" if row
                      else f"    {{{'0xffffffff' if place != mask else '0x00000000'}, 0}},"
                      for place, row in enumerate(first)]
            lines.append(f"}};\ninline constexpr HandleRow {type_}_others[] = {{")
            lines += [f"    {{0x{a:08x}, 0x{b:03x}}},  // {n}" for a, b, n in second] or ["    {},"]
            lines.append("};\n")
        lines.append("// MPICH's handles of the standard's predefined ones.\ninline constexpr uint32_t predefined_theirs[] = {")
        for i in range(max(to_theirs) + 1):
            lines.append(f"    0x{to_theirs[i][0]:08x},  // {to_theirs[i][1]}" if i in to_theirs else "    0,")
        return lines + ["};\n"]

    def header_types(self):
        return ["#define MPICH_NAME 4", *(f"typedef int {t};" for t in INT_HANDLES), "typedef struct ADIOI_FileD *MPI_File;",
                "typedef struct MPI_Status {", "  int count_lo;", "  int count_hi_and_cancelled;", "  int MPI_SOURCE;",
                "  int MPI_TAG;", "  int MPI_ERROR;", "} MPI_Status;"]

    def header_constants(self, _):
        lines = ["int MPIR_Dup_fn(MPI_Comm, int, void *, void *, void *, int *);",
                 "extern int *const MPI_UNWEIGHTED;", "extern int *const MPI_WEIGHTS_EMPTY;",
                 "extern MPI_T_pvar_handle const MPI_T_PVAR_ALL_HANDLES;"]
        return lines + [f"#define {c['name']} (({c['type']}){c['value']})" if c["type"] != "int"
                        else f"#define {c['name']} ({c['value']})"
                        for c in self.data["constants"] + self.data["only_theirs"]]


MPICH = Mpich()
