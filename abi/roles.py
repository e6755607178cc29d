# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""What each parameter of an MPI function is, derived from its type and name: what a face must convert (docs/design/foreign-abis.md).

A role is a word, and for arrays the expression of their length. Where a type and a name do not tell, OVERRIDES does."""
from dataclasses import dataclass

HANDLES = {"MPI_Comm", "MPI_Group", "MPI_Datatype", "MPI_Op", "MPI_Request", "MPI_Message", "MPI_Errhandler",
           "MPI_Info", "MPI_Session", "MPI_Win", "MPI_File"}


@dataclass(frozen=True)
class Role:
    kind: str  # plain, handle, handle_out, handle_inout, handles_in, handles_inout, status_..., buffer, value...
    of: str = ""  # the handle's type, or the family of constants
    length: str = ""  # of an array, an expression of the parameters


PLAIN = Role("plain")

# Functions that read a handle through the pointer that they store the new one to.
READS_HANDLE = {"MPI_Wait", "MPI_Test", "MPI_Start", "MPI_Cancel", "MPI_Type_commit", "MPI_Mrecv", "MPI_Mrecv_c",
                "MPI_Imrecv", "MPI_Imrecv_c", "MPI_Comm_disconnect", "MPI_Session_finalize", "MPI_File_close"}

# int parameters that are constants of a family: by name.
VALUES = {
    "dest": "rank", "source": "rank", "rank": "rank", "root": "rank", "target_rank": "rank",
    "tag": "tag", "sendtag": "tag", "recvtag": "tag",
    "rank_source": "rank", "rank_dest": "rank",
    "errorcode": "error", "errorclass": "error", "error": "error",
    "keyval": "keyval", "comm_keyval": "keyval", "type_keyval": "keyval", "win_keyval": "keyval",
    "lock_type": "lock", "assert": "assertion", "split_type": "split", "order": "order", "typeclass": "typeclass",
    "combiner": "combiner", "required": "thread", "provided": "thread", "whence": "seek", "amode": "access",
    "verbosity": "verbosity", "bind": "bind", "scope": "scope", "var_class": "pvar_class",
}
# Roles of parameters whose name alone does not tell them.
OVERRIDES = {
    ("MPI_Comm_compare", "result"): Role("value_out", "comparison"),
    ("MPI_Group_compare", "result"): Role("value_out", "comparison"),
    ("MPI_Topo_test", "status"): Role("value_out", "topology"),
    ("MPI_Group_translate_ranks", "ranks1"): Role("values_in", "rank", "n"),
    ("MPI_Group_translate_ranks", "ranks2"): Role("values_out", "rank", "n"),
    ("MPI_Type_create_darray", "array_of_distribs"): Role("values_in", "distribution", "ndims"),
    ("MPI_Type_create_darray", "array_of_dargs"): Role("values_in", "distribution_argument", "ndims"),
    ("MPI_Type_get_contents", "array_of_datatypes"): Role("handles_out", "MPI_Datatype", "max_datatypes"),
    ("MPI_Type_create_struct", "array_of_types"): Role("handles_in", "MPI_Datatype", "count"),
    ("MPI_Get_processor_name", "name"): Role("string_out", "MPI_MAX_PROCESSOR_NAME"),
    ("MPI_Get_processor_name", "resultlen"): Role("length_out", "MPI_MAX_PROCESSOR_NAME"),
    ("MPI_Error_string", "string"): Role("string_out", "MPI_MAX_ERROR_STRING"),
    ("MPI_Error_string", "resultlen"): Role("length_out", "MPI_MAX_ERROR_STRING"),
    ("MPI_Comm_get_name", "comm_name"): Role("string_out", "MPI_MAX_OBJECT_NAME"),
    ("MPI_Comm_get_name", "resultlen"): Role("length_out", "MPI_MAX_OBJECT_NAME"),
    ("MPI_Win_get_name", "win_name"): Role("string_out", "MPI_MAX_OBJECT_NAME"),
    ("MPI_Win_get_name", "resultlen"): Role("length_out", "MPI_MAX_OBJECT_NAME"),
    ("MPI_Info_get_nthkey", "key"): Role("string_out", "MPI_MAX_INFO_KEY"),
    ("MPI_Open_port", "port_name"): Role("string_out", "MPI_MAX_PORT_NAME"),
    ("MPI_Lookup_name", "port_name"): Role("string_out", "MPI_MAX_PORT_NAME"),
    ("MPI_File_seek", "offset"): PLAIN,
    ("MPI_File_set_view", "disp"): Role("value", "displacement"),
    ("MPI_Intercomm_create", "local_leader"): PLAIN,
    ("MPI_Cart_rank", "rank"): PLAIN,
    ("MPI_Cart_map", "newrank"): PLAIN,
    ("MPI_Graph_map", "newrank"): PLAIN,
    ("MPI_Win_shared_query", "rank"): Role("value", "rank"),
    ("MPI_Comm_spawn_multiple", "array_of_info"): Role("handles_in", "MPI_Info", "count"),
    ("MPI_Abort", "errorcode"): PLAIN,  # the exit status of the job
}

# Arrays of datatypes have an entry for each rank that the communicator exchanges data with.
EXCHANGES = {"MPI_Alltoallw": "ranks_of", "MPI_Ialltoallw": "ranks_of", "MPI_Alltoallw_init": "ranks_of",
             "MPI_Neighbor_alltoallw": "neighbours_of", "MPI_Ineighbor_alltoallw": "neighbours_of",
             "MPI_Neighbor_alltoallw_init": "neighbours_of"}

WEIGHTS = {"weights", "sourceweights", "destweights"}

BUFFERS = {"sendbuf", "recvbuf", "buffer", "buf", "inbuf", "outbuf", "inoutbuf", "origin_addr", "result_addr", "compare_addr", "base"}


def narrow_name(function):
    return function.removesuffix("_c")


def role(function, param):
    """The role of a parameter; None where no rule tells."""
    name = narrow_name(function)
    given = OVERRIDES.get((name, param.name))
    if given:
        return given
    type_, base = param.type, param.type.removeprefix("const ").rstrip("*[] ")
    if base in HANDLES:
        return handle_role(name, param, base)
    if type_ == "MPI_T_pvar_handle":
        return Role("pvar")
    if name.startswith("MPI_Dist_graph") and param.name in WEIGHTS:
        return Role("weights")
    if base == "MPI_Status":
        return status_role(name, param)
    if param.name == "buffer_addr":
        return Role("buffer_out")
    if type_ in ("void *", "const void *"):
        return Role("buffer") if param.name in BUFFERS else PLAIN
    if type_ in ("int", "int *") and param.name in VALUES:
        reads = name.endswith("free_keyval") or name == "MPI_Keyval_free"
        return Role("value" if type_ == "int" else "value_inout" if reads else "value_out", VALUES[param.name])
    if type_ == "MPI_T_cb_safety":
        return Role("cb_safety")
    if base.endswith("_function") or base.endswith("_function_c"):
        return None
    return PLAIN


def handle_role(name, param, base):
    if param.type == base:
        return Role("handle", base)
    if param.type == base + " *":
        reads = name in READS_HANDLE or name.endswith("_free")
        return Role("handle_inout" if reads else "handle_out", base)
    if base == "MPI_Request":
        length = "incount" if name.endswith("some") else "count"
        return Role("handles_in" if param.type.startswith("const") else "handles_inout", base, length)
    if name in EXCHANGES:
        side = "destinations" if param.name == "sendtypes" else "sources"
        return Role("handles_in", base, f"{EXCHANGES[name]}(comm).{side}")
    return None


def status_role(name, param):
    if param.name == "array_of_statuses":
        return Role("statuses_out", "", "incount" if name.endswith("some") else "count")
    if param.type.startswith("const"):
        return Role("status_in")
    return Role("status_inout" if name.startswith("MPI_Status_set") else "status_out")
