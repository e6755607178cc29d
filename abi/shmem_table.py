# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""The table of OpenSHMEM functions (OpenSHMEM 1.6, chapter 9): families of typed functions, and the single ones.

A family is a row: the name, the result, the parameters, the types, and the call that implements it. In a row

  T        stands for the type, e.g. `long`; N for the bytes of an element
  AT       for the context and the name of the function: Default{"..."} or On{"...", ctx}
  NAME     for the name of the function in quotes
"""
import dataclasses

# Names of types and the types (tables 3 to 10 of the specification).
ALL = {"float": "float", "double": "double", "longdouble": "long double", "char": "char", "schar": "signed char",
       "short": "short", "int": "int", "long": "long", "longlong": "long long", "uchar": "unsigned char",
       "ushort": "unsigned short", "uint": "unsigned int", "ulong": "unsigned long",
       "ulonglong": "unsigned long long", "int8": "int8_t", "int16": "int16_t", "int32": "int32_t",
       "int64": "int64_t", "uint8": "uint8_t", "uint16": "uint16_t", "uint32": "uint32_t", "uint64": "uint64_t",
       "size": "size_t", "ptrdiff": "ptrdiff_t", "complexf": "SHMEM_COMPLEXF", "complexd": "SHMEM_COMPLEXD"}

# Types that are another name for one of the others: C11's _Generic and C++'s overloads have one of them alone.
SYNONYMS = {"int8": "schar", "int16": "short", "int32": "int", "int64": "long", "uint8": "uchar", "uint16": "ushort",
            "uint32": "uint", "uint64": "ulong", "size": "ulong", "ptrdiff": "long"}

RMA = [name for name in ALL if not name.startswith("complex")]
AMO = ["int", "long", "longlong", "uint", "ulong", "ulonglong", "int32", "int64", "uint32", "uint64", "size", "ptrdiff"]
EXTENDED_AMO = ["float", "double", *AMO]
BITWISE_AMO = ["uint", "ulong", "ulonglong", "int32", "int64", "uint32", "uint64"]
SYNC = ["short", "ushort", *AMO]
BITS = ["uchar", "ushort", "uint", "ulong", "ulonglong", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
        "uint64", "size"]
ORDERED = RMA
NUMBERS = list(ALL)
SET_BITS = ["short", "int", "long", "longlong"]
SET_ORDERED = [*SET_BITS, "float", "double", "longdouble"]
SET_NUMBERS = [*SET_ORDERED, "complexf", "complexd"]
OLD_AMO = ["int", "long", "longlong"]
OLD_EXTENDED = ["float", "double", *OLD_AMO]

SIZES = [8, 16, 32, 64, 128]

TRANSFER = "T *dest, const T *source, size_t nelems, int pe"
STRIDED = "T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe"
BLOCKED = "T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe"
SIGNALLED = ("T *dest, const T *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe")
SET = "int PE_start, int logPE_stride, int PE_size"


@dataclasses.dataclass
class Family:
    """`name` has TYPE or SIZE where the names of the functions have the type's name or the size in bits."""
    name: str
    returns: str
    params: str
    types: list
    body: str
    ctx: bool = False       # there is a form with a context too
    generic: str = ""       # the name for all types, in C11 and C++
    deprecated: bool = False


def rma(op, params, body, sized=True, mem=True):
    """typed, by size and by bytes: put, put32, putmem."""
    stem, _, tail = op.partition("_")
    tail = "_" + tail if tail else ""
    yield Family(f"TYPE_{op}", "void", params, RMA, body, ctx=True, generic=op)
    if sized:
        yield Family(f"{stem}SIZE{tail}", "void", params, SIZES, body, ctx=True)
    if mem:
        yield Family(f"{stem}mem{tail}", "void", params, ["mem"], body, ctx=True)


def families():
    yield from rma("put", TRANSFER, "put(AT, dest, source, bytes_of(nelems, N), pe)")
    yield from rma("get", TRANSFER, "get(AT, dest, source, bytes_of(nelems, N), pe)")
    yield from rma("put_nbi", TRANSFER, "put_nbi(AT, dest, source, bytes_of(nelems, N), pe)")
    yield from rma("get_nbi", TRANSFER, "get_nbi(AT, dest, source, bytes_of(nelems, N), pe)")
    yield Family("TYPE_p", "void", "T *dest, T value, int pe", RMA, "store(AT, dest, value, pe)", True, "p")
    yield Family("TYPE_g", "T", "const T *source, int pe", RMA, "load(AT, source, pe)", True, "g")
    yield from rma("iput", STRIDED, "put_strided(AT, dest, source, {dst, sst, 1, nelems, N}, pe)", mem=False)
    yield from rma("iget", STRIDED, "get_strided(AT, dest, source, {dst, sst, 1, nelems, N}, pe)", mem=False)
    yield from rma("ibput", BLOCKED, "put_strided(AT, dest, source, {dst, sst, bsize, nblocks, N}, pe)", mem=False)
    yield from rma("ibget", BLOCKED, "get_strided(AT, dest, source, {dst, sst, bsize, nblocks, N}, pe)", mem=False)
    for op in ("put_signal", "put_signal_nbi"):
        yield from rma(op, SIGNALLED, "put_signal(AT, dest, source, bytes_of(nelems, N), {sig_addr, signal, sig_op}, pe)")
    yield from atomics()
    yield from old_atomics()
    yield from synchronisation()
    yield from collectives()
    yield from active_sets()


def atomics():
    def family(op, returns, params, types, body):
        return Family(f"TYPE_atomic_{op}", returns, params, types, body, True, f"atomic_{op}")

    yield family("fetch", "T", "const T *source, int pe", EXTENDED_AMO, "atomic_fetch(AT, source, pe)")
    yield family("set", "void", "T *dest, T value, int pe", EXTENDED_AMO, "atomic_set(AT, dest, value, pe)")
    yield family("swap", "T", "T *dest, T value, int pe", EXTENDED_AMO, "fetch_replace(AT, dest, value, pe)")
    yield family("compare_swap", "T", "T *dest, T cond, T value, int pe", AMO, "compare_swap(AT, dest, cond, value, pe)")
    yield family("fetch_inc", "T", "T *dest, int pe", AMO, "fetch_add(AT, dest, one<T>, pe)")
    yield family("inc", "void", "T *dest, int pe", AMO, "add(AT, dest, one<T>, pe)")
    for op, types in (("add", AMO), ("and", BITWISE_AMO), ("or", BITWISE_AMO), ("xor", BITWISE_AMO)):
        call = op if op == "add" else "bit_" + op
        yield family(f"fetch_{op}", "T", "T *dest, T value, int pe", types, f"fetch_{call}(AT, dest, value, pe)")
        yield family(op, "void", "T *dest, T value, int pe", types, f"{call}(AT, dest, value, pe)")
        yield family(f"fetch_{op}_nbi", "void", "T *fetch, T *dest, T value, int pe", types,
                     f"fetch_{call}_nbi(AT, fetch, dest, value, pe)")
    yield family("fetch_nbi", "void", "T *fetch, const T *source, int pe", EXTENDED_AMO,
                 "atomic_fetch_nbi(AT, fetch, source, pe)")
    yield family("swap_nbi", "void", "T *fetch, T *dest, T value, int pe", EXTENDED_AMO,
                 "fetch_replace_nbi(AT, fetch, dest, value, pe)")
    yield family("compare_swap_nbi", "void", "T *fetch, T *dest, T cond, T value, int pe", AMO,
                 "compare_swap_nbi(AT, fetch, dest, cond, value, pe)")
    yield family("fetch_inc_nbi", "void", "T *fetch, T *dest, int pe", AMO, "fetch_add_nbi(AT, fetch, dest, one<T>, pe)")


def old_atomics():
    def family(op, returns, params, types, body):
        return Family(f"TYPE_{op}", returns, params, types, body, False, op, deprecated=True)

    yield family("fetch", "T", "const T *source, int pe", OLD_EXTENDED, "atomic_fetch(AT, source, pe)")
    yield family("set", "void", "T *dest, T value, int pe", OLD_EXTENDED, "atomic_set(AT, dest, value, pe)")
    yield family("swap", "T", "T *dest, T value, int pe", OLD_EXTENDED, "fetch_replace(AT, dest, value, pe)")
    yield family("cswap", "T", "T *dest, T cond, T value, int pe", OLD_AMO, "compare_swap(AT, dest, cond, value, pe)")
    yield family("fadd", "T", "T *dest, T value, int pe", OLD_AMO, "fetch_add(AT, dest, value, pe)")
    yield family("add", "void", "T *dest, T value, int pe", OLD_AMO, "add(AT, dest, value, pe)")
    yield family("finc", "T", "T *dest, int pe", OLD_AMO, "fetch_add(AT, dest, one<T>, pe)")
    yield family("inc", "void", "T *dest, int pe", OLD_AMO, "add(AT, dest, one<T>, pe)")


def synchronisation():
    for way, returns in (("wait_until", "void"), ("test", "int")):
        yield Family(f"TYPE_{way}", returns, "T *ivar, int cmp, T cmp_value", SYNC, f"{way}(NAME, ivar, cmp, cmp_value)",
                     generic=way)
        for which in ("all", "any", "some"):
            result = returns if which == "all" else "size_t"
            out = ", size_t *indices" if which == "some" else ""
            into = ", indices" if which == "some" else ""
            for vector, value in (("", "T cmp_value"), ("_vector", "const T *cmp_values")):
                values = f"Same{{{value.split()[-1]}}}" if not vector else "Each{cmp_values}"
                yield Family(f"TYPE_{way}_{which}{vector}", result,
                             f"T *ivars, size_t nelems{out}, const int *status, int cmp, {value}", SYNC,
                             f"{way}_{which}(NAME, Set{{ivars, nelems, status}}{into}, cmp, {values})",
                             generic=f"{way}_{which}{vector}")
    yield Family("TYPE_wait", "void", "T *ivar, T cmp_value", ["short", "int", "long", "longlong"],
                 "wait_until(NAME, ivar, SHMEM_CMP_NE, cmp_value)", deprecated=True)


def collectives():
    def family(op, params, types, body, mem=True):
        yield Family(f"TYPE_{op}", "int", params, types, body, generic=op)
        if mem:
            yield Family(f"{op}mem", "int", params, ["mem"], body)

    data = "shmem_team_t team, T *dest, const T *source, size_t nelems"
    strided = "shmem_team_t team, T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems"
    yield from family("broadcast", data + ", int PE_root", RMA,
                      "broadcast(NAME, team, dest, source, bytes_of(nelems, N), PE_root)")
    for op in ("collect", "fcollect", "alltoall"):
        yield from family(op, data, RMA, f"{op}(NAME, team, dest, source, bytes_of(nelems, N))")
    yield from family("alltoalls", strided, RMA, "alltoalls(NAME, team, dest, source, {dst, sst, 1, nelems, N})")
    reduced = "shmem_team_t team, T *dest, const T *source, size_t nreduce"
    for op, types, reduction in (("and", BITS, "band"), ("or", BITS, "bor"), ("xor", BITS, "bxor"),
                                 ("max", ORDERED, "max"), ("min", ORDERED, "min"),
                                 ("sum", NUMBERS, "sum"), ("prod", NUMBERS, "prod")):
        yield from family(f"{op}_reduce", reduced, types,
                          f"reduce(NAME, team, dest, source, nreduce, Reduction::{reduction}, basic_of<T>)", mem=False)
    for op in ("inscan", "exscan"):
        yield from family(f"sum_{op}", data, NUMBERS, f"{op}(NAME, team, dest, source, nelems, basic_of<T>)", mem=False)


def active_sets():
    chosen = "{PE_start, logPE_stride, PE_size}"
    for bits in (32, 64):
        tail = f"size_t nelems, {SET}, long *pSync"
        size = f"bytes_of(nelems, {bits // 8})"
        yield single(f"void broadcast{bits}(void *dest, const void *source, size_t nelems, int PE_root, {SET}, long *pSync)",
                     f"broadcast_in(NAME, {chosen}, dest, source, {size}, PE_root)", unused="pSync")
        for op in ("collect", "fcollect", "alltoall"):
            yield single(f"void {op}{bits}(void *dest, const void *source, {tail})",
                         f"{op}_in(NAME, {chosen}, dest, source, {size})", unused="pSync")
        yield single(f"void alltoalls{bits}(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, {tail})",
                     f"alltoalls_in(NAME, {chosen}, dest, source, {{dst, sst, 1, nelems, {bits // 8}}})", unused="pSync")
    for op, types, reduction in (("and", SET_BITS, "band"), ("or", SET_BITS, "bor"), ("xor", SET_BITS, "bxor"),
                                 ("max", SET_ORDERED, "max"), ("min", SET_ORDERED, "min"),
                                 ("sum", SET_NUMBERS, "sum"), ("prod", SET_NUMBERS, "prod")):
        yield Family(f"TYPE_{op}_to_all", "void",
                     f"T *dest, const T *source, int nreduce, {SET}, T *pWrk, long *pSync", types,
                     f"reduce_in(NAME, {chosen}, dest, source, nreduce, Reduction::{reduction}, basic_of<T>);pWrk,pSync",
                     deprecated=True)


def single(prototype, body, unused="", deprecated=True):
    head, _, params = prototype.partition("(")
    returns, _, name = head.rpartition(" ")
    if name.startswith("*"):
        returns, name = returns + " *", name[1:]
    return Family(name, returns, params.rstrip(")"), ["one"], body + (";" + unused if unused else ""),
                  deprecated=deprecated)


def singles():
    """Functions without types. Their names get the prefix shmem_, but for the oldest."""
    now = [
        ("void init(void)", "init()"),
        ("int init_thread(int requested, int *provided)", "init_thread(requested, provided)"),
        ("void finalize(void)", "finalize()"),
        ("void query_initialized(int *initialized)", "query_initialized(initialized)"),
        ("void query_thread(int *provided)", "query_thread(provided)"),
        ("void global_exit(int status)", "global_exit(status)"),
        ("int my_pe(void)", "my_pe()"),
        ("int n_pes(void)", "n_pes()"),
        ("int pe_accessible(int pe)", "pe_accessible(pe)"),
        ("int addr_accessible(const void *addr, int pe)", "addr_accessible(addr, pe)"),
        ("void *ptr(const void *dest, int pe)", "pointer(NAME, dest, pe)"),
        ("void *team_ptr(shmem_team_t team, const void *dest, int pe)", "team_pointer(NAME, team, dest, pe)"),
        ("void info_get_version(int *major, int *minor)", "info_get_version(major, minor)"),
        ("void info_get_name(char *name)", "info_get_name(name)"),
        ("void *malloc(size_t size)", "allocate(NAME, size)"),
        ("void *malloc_with_hints(size_t size, long hints)", "allocate_for(NAME, size, hints)"),
        ("void *calloc(size_t count, size_t size)", "allocate_zeroed(NAME, count, size)"),
        ("void *align(size_t alignment, size_t size)", "allocate_aligned(NAME, alignment, size)"),
        ("void *realloc(void *ptr, size_t size)", "reallocate(NAME, ptr, size)"),
        ("void free(void *ptr)", "release(NAME, ptr)"),
        ("int ctx_create(long options, shmem_ctx_t *ctx)", "create_context(NAME, options, ctx)"),
        ("int team_create_ctx(shmem_team_t team, long options, shmem_ctx_t *ctx)",
         "create_team_context(NAME, team, options, ctx)"),
        ("void ctx_destroy(shmem_ctx_t ctx)", "destroy_context(NAME, ctx)"),
        ("int ctx_get_team(shmem_ctx_t ctx, shmem_team_t *team)", "team_of_context(NAME, ctx, team)"),
        ("void ctx_session_start(shmem_ctx_t ctx, long options, const shmem_ctx_session_config_t *config, "
         "long config_mask)", "start_session(NAME, ctx, options, config, config_mask)"),
        ("void ctx_session_stop(shmem_ctx_t ctx)", "stop_session(NAME, ctx)"),
        ("int team_my_pe(shmem_team_t team)", "team_my_pe(NAME, team)"),
        ("int team_n_pes(shmem_team_t team)", "team_n_pes(NAME, team)"),
        ("int team_get_config(shmem_team_t team, long config_mask, shmem_team_config_t *config)",
         "team_get_config(NAME, team, config_mask, config)"),
        ("int team_translate_pe(shmem_team_t src_team, int src_pe, shmem_team_t dest_team)",
         "translate_pe(NAME, src_team, src_pe, dest_team)"),
        ("int team_split_strided(shmem_team_t parent_team, int start, int stride, int size, "
         "const shmem_team_config_t *config, long config_mask, shmem_team_t *new_team)",
         "split_strided(NAME, parent_team, {start, stride, size}, {config, config_mask}, new_team)"),
        ("int team_split_2d(shmem_team_t parent_team, int xrange, const shmem_team_config_t *xaxis_config, "
         "long xaxis_mask, shmem_team_t *xaxis_team, const shmem_team_config_t *yaxis_config, long yaxis_mask, "
         "shmem_team_t *yaxis_team)",
         "split_2d(NAME, parent_team, xrange, {xaxis_config, xaxis_mask}, xaxis_team, {yaxis_config, yaxis_mask}, "
         "yaxis_team)"),
        ("void team_destroy(shmem_team_t team)", "destroy_team(NAME, team)"),
        ("void fence(void)", "fence(NAME)"),
        ("void ctx_fence(shmem_ctx_t ctx)", "fence_on(NAME, ctx)"),
        ("void quiet(void)", "quiet(NAME)"),
        ("void ctx_quiet(shmem_ctx_t ctx)", "quiet_on(NAME, ctx)"),
        ("void pe_quiet(const int *target_pes, size_t npes)", "quiet_pes(NAME, SHMEM_CTX_DEFAULT, target_pes, npes)"),
        ("void ctx_pe_quiet(shmem_ctx_t ctx, const int *target_pes, size_t npes)",
         "quiet_pes(NAME, ctx, target_pes, npes)"),
        ("void barrier_all(void)", "barrier_all(NAME)"),
        ("void sync_all(void)", "sync_all(NAME)"),
        ("int team_sync(shmem_team_t team)", "team_sync(NAME, team)"),
        ("uint64_t signal_fetch(const uint64_t *sig_addr)", "signal_fetch(NAME, sig_addr)"),
        ("uint64_t signal_wait_until(uint64_t *sig_addr, int cmp, uint64_t cmp_value)",
         "signal_wait_until(NAME, sig_addr, cmp, cmp_value)"),
        ("void signal_add(uint64_t *sig_addr, uint64_t signal, int pe)", "add(AT, sig_addr, signal, pe)"),
        ("void ctx_signal_add(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe)",
         "add(ON, sig_addr, signal, pe)"),
        ("void signal_set(uint64_t *sig_addr, uint64_t signal, int pe)", "atomic_set(AT, sig_addr, signal, pe)"),
        ("void ctx_signal_set(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe)",
         "atomic_set(ON, sig_addr, signal, pe)"),
        ("void set_lock(long *lock)", "set_lock(NAME, lock)"),
        ("void clear_lock(long *lock)", "clear_lock(NAME, lock)"),
        ("int test_lock(long *lock)", "test_lock(NAME, lock)"),
        ("void pcontrol(int level, ...)", ";level"),
    ]
    for prototype, body in now:
        yield single(prototype, body, deprecated=False)
    yield single(f"void barrier({SET}, long *pSync)", "barrier_in(NAME, {PE_start, logPE_stride, PE_size})", "pSync")
    yield single(f"void sync({SET}, long *pSync)", "sync_in(NAME, {PE_start, logPE_stride, PE_size})", "pSync")
    yield single("void wait(long *ivar, long cmp_value)", "wait_until(NAME, ivar, SHMEM_CMP_NE, cmp_value)")
    yield single("void wait_until(long *ivar, int cmp, long cmp_value)", "wait_until(NAME, ivar, cmp, cmp_value)")


OLDEST = [
    single("void start_pes(int npes)", "start_pes();npes"),
    single("int _my_pe(void)", "my_pe()"),
    single("int _num_pes(void)", "n_pes()"),
    single("void *shmalloc(size_t size)", "allocate(NAME, size)"),
    single("void shfree(void *ptr)", "release(NAME, ptr)"),
    single("void *shrealloc(void *ptr, size_t size)", "reallocate(NAME, ptr, size)"),
    single("void *shmemalign(size_t alignment, size_t size)", "allocate_aligned(NAME, alignment, size)"),
]


@dataclasses.dataclass
class Function:
    name: str
    returns: str
    params: list
    body: str
    unused: list
    deprecated: bool
    type: str = ""       # the name of its type in ALL, of functions that a generic name chooses
    generic: str = ""
    ctx: bool = False
    family: str = ""     # the name of its row, with the prefix of its own
    size: str = ""       # bytes of an element


def split_params(text):
    return [] if text == "void" else text.split(", ")


def with_type(text, c_type):
    """T, as a word, is the type; for bytes it is `void`."""
    out, word = [], ""
    for char in text + "\0":
        if char.isalnum() or char == "_":
            word += char
            continue
        out.append(c_type if word == "T" else word)
        out.append(char)
        word = ""
    return "".join(out)[:-1]


def expand(family, prefix="shmem_"):
    for row in family.types:
        if row == "one":
            name, c_type, size = family.name, "", ""
        elif row == "mem":
            name, c_type, size = family.name, "void", "1"
        elif isinstance(row, int):
            name, c_type, size = family.name.replace("SIZE", str(row)), "void", str(row // 8)
        else:
            name, c_type, size = family.name.replace("TYPE", row), ALL[row], f"sizeof({ALL[row]})"
        for ctx in ([False, True] if family.ctx else [False]):
            full = prefix + ("ctx_" if ctx else "") + name
            params = split_params(with_type(family.params, c_type))
            if ctx:
                params = ["shmem_ctx_t ctx", *params]
            body, _, unused = family.body.partition(";")
            on = f'On{{"{full}", ctx}}'
            body = with_type(body, c_type).replace("AT", on if ctx else f'Default{{"{full}"}}').replace("ON", on)
            body = body.replace("NAME", f'"{full}"')
            body = body.replace(", N)", f", {size})").replace(", N}", f", {size}}}")
            returns = with_type(family.returns, c_type)
            yield Function(full, returns, params, body, [u for u in unused.split(",") if u], family.deprecated,
                           row if isinstance(row, str) else "", family.generic, ctx, prefix + family.name, size)


def functions():
    found = [f for family in (*singles(), *families()) for f in expand(family)]
    found += [f for family in OLDEST for f in expand(family, "")]
    names = [f.name for f in found]
    twice = {name for name in names if names.count(name) > 1} if len(set(names)) != len(names) else set()
    if twice:
        raise SystemExit(f"abi/shmem_table.py: several functions have the names {sorted(twice)}")
    return found
