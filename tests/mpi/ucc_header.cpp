// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Where UCC's header is: Weft's own declarations (src/transport/ucc/abi.hpp) are those of the header.
#include <ucc/api/ucc.h>

#include <cstddef>

#include "transport/ucc/abi.hpp"

namespace abi = weft::transport::ucc::abi;

#define SAME_PLACE(ours, our_field, theirs, their_field)                     \
  static_assert(offsetof(ours, our_field) == offsetof(theirs, their_field)); \
  static_assert(sizeof(ours::our_field) == sizeof(theirs::their_field))
#define SAME_NUMBER(ours, theirs) static_assert(static_cast<uint64_t>(ours) == static_cast<uint64_t>(theirs))
#define FITS(ours, theirs) static_assert(sizeof(ours) >= sizeof(theirs))

SAME_PLACE(abi::CollectiveRequest, status, ucc_coll_req_t, status);
FITS(abi::CollectiveRequest, ucc_coll_req_t);

SAME_PLACE(abi::LibraryParams, mask, ucc_lib_params_t, mask);
SAME_PLACE(abi::LibraryParams, threads, ucc_lib_params_t, thread_mode);
FITS(abi::LibraryParams, ucc_lib_params_t);
SAME_NUMBER(abi::LibraryParams::has_threads, UCC_LIB_PARAM_FIELD_THREAD_MODE);
SAME_NUMBER(abi::Threads::single, UCC_THREAD_SINGLE);
SAME_NUMBER(abi::Threads::multiple, UCC_THREAD_MULTIPLE);

SAME_PLACE(abi::OutOfBand, allgather, ucc_oob_coll_t, allgather);
SAME_PLACE(abi::OutOfBand, test, ucc_oob_coll_t, req_test);
SAME_PLACE(abi::OutOfBand, free, ucc_oob_coll_t, req_free);
SAME_PLACE(abi::OutOfBand, info, ucc_oob_coll_t, coll_info);
SAME_PLACE(abi::OutOfBand, members, ucc_oob_coll_t, n_oob_eps);
SAME_PLACE(abi::OutOfBand, place, ucc_oob_coll_t, oob_ep);
static_assert(sizeof(abi::OutOfBand) == sizeof(ucc_oob_coll_t));

SAME_PLACE(abi::ContextParams, mask, ucc_context_params_t, mask);
SAME_PLACE(abi::ContextParams, type, ucc_context_params_t, type);
FITS(abi::ContextParams, ucc_context_params_t);
SAME_NUMBER(abi::ContextParams::has_type, UCC_CONTEXT_PARAM_FIELD_TYPE);
SAME_NUMBER(0, UCC_CONTEXT_EXCLUSIVE);

SAME_PLACE(abi::TeamParams, mask, ucc_team_params_t, mask);
SAME_PLACE(abi::TeamParams, place, ucc_team_params_t, ep);
SAME_PLACE(abi::TeamParams, range, ucc_team_params_t, ep_range);
SAME_PLACE(abi::TeamParams, size, ucc_team_params_t, team_size);
SAME_PLACE(abi::TeamParams, out_of_band, ucc_team_params_t, oob);
SAME_PLACE(abi::TeamParams, id, ucc_team_params_t, id);
FITS(abi::TeamParams, ucc_team_params_t);
SAME_NUMBER(abi::TeamParams::has_place, UCC_TEAM_PARAM_FIELD_EP);
SAME_NUMBER(abi::TeamParams::has_range, UCC_TEAM_PARAM_FIELD_EP_RANGE);
SAME_NUMBER(abi::TeamParams::has_size, UCC_TEAM_PARAM_FIELD_TEAM_SIZE);
SAME_NUMBER(abi::TeamParams::has_out_of_band, UCC_TEAM_PARAM_FIELD_OOB);
SAME_NUMBER(0, UCC_COLLECTIVE_EP_RANGE_CONTIG);

SAME_PLACE(abi::BufferInfo, data, ucc_coll_buffer_info_t, buffer);
SAME_PLACE(abi::BufferInfo, count, ucc_coll_buffer_info_t, count);
SAME_PLACE(abi::BufferInfo, type, ucc_coll_buffer_info_t, datatype);
SAME_PLACE(abi::BufferInfo, memory, ucc_coll_buffer_info_t, mem_type);
SAME_NUMBER(0, UCC_MEMORY_TYPE_HOST);

SAME_PLACE(abi::Arguments, mask, ucc_coll_args_t, mask);
SAME_PLACE(abi::Arguments, collective, ucc_coll_args_t, coll_type);
SAME_PLACE(abi::Arguments, from, ucc_coll_args_t, src);
SAME_PLACE(abi::Arguments, to, ucc_coll_args_t, dst);
SAME_PLACE(abi::Arguments, reduction, ucc_coll_args_t, op);
SAME_PLACE(abi::Arguments, root, ucc_coll_args_t, root);
SAME_PLACE(abi::Arguments, active, ucc_coll_args_t, active_set);
FITS(abi::Arguments, ucc_coll_args_t);
SAME_NUMBER(abi::CollectiveType::allreduce, UCC_COLL_TYPE_ALLREDUCE);
SAME_NUMBER(abi::CollectiveType::barrier, UCC_COLL_TYPE_BARRIER);
SAME_NUMBER(abi::CollectiveType::bcast, UCC_COLL_TYPE_BCAST);

SAME_NUMBER(abi::int8, UCC_DT_INT8);
SAME_NUMBER(abi::int16, UCC_DT_INT16);
SAME_NUMBER(abi::int32, UCC_DT_INT32);
SAME_NUMBER(abi::int64, UCC_DT_INT64);
SAME_NUMBER(abi::uint8, UCC_DT_UINT8);
SAME_NUMBER(abi::uint16, UCC_DT_UINT16);
SAME_NUMBER(abi::uint32, UCC_DT_UINT32);
SAME_NUMBER(abi::uint64, UCC_DT_UINT64);
SAME_NUMBER(abi::float32, UCC_DT_FLOAT32);
SAME_NUMBER(abi::float64, UCC_DT_FLOAT64);

SAME_NUMBER(abi::ReductionOp::sum, UCC_OP_SUM);
SAME_NUMBER(abi::ReductionOp::prod, UCC_OP_PROD);
SAME_NUMBER(abi::ReductionOp::max, UCC_OP_MAX);
SAME_NUMBER(abi::ReductionOp::min, UCC_OP_MIN);
SAME_NUMBER(abi::ReductionOp::land, UCC_OP_LAND);
SAME_NUMBER(abi::ReductionOp::lor, UCC_OP_LOR);
SAME_NUMBER(abi::ReductionOp::lxor, UCC_OP_LXOR);
SAME_NUMBER(abi::ReductionOp::band, UCC_OP_BAND);
SAME_NUMBER(abi::ReductionOp::bor, UCC_OP_BOR);
SAME_NUMBER(abi::ReductionOp::bxor, UCC_OP_BXOR);

SAME_NUMBER(abi::ok, UCC_OK);
SAME_NUMBER(abi::in_progress, UCC_INPROGRESS);
SAME_NUMBER(abi::not_supported, UCC_ERR_NOT_SUPPORTED);
SAME_NUMBER(abi::no_memory, UCC_ERR_NO_MEMORY);
SAME_NUMBER(abi::no_message, UCC_ERR_NO_MESSAGE);
