// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/collective.hpp"

#include <cstring>

#include "base/message.hpp"
#include "transport/net/network.hpp"
#include "transport/ofi/provider.hpp"

namespace weft::transport::ofi {
namespace {

// The modes of registration that a caller need not know of: memory is handed over as it is.
constexpr int memory_modes = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;

fi_info* ask(const std::string& provider, in_addr address) {
  const OfiLibrary& l = library();
  fi_info* hints = l.dupinfo(nullptr);
  if (hints == nullptr) return nullptr;
  hints->caps = FI_MSG | FI_COLLECTIVE;
  hints->mode = FI_CONTEXT;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->threading = FI_THREAD_SAFE;
  hints->domain_attr->control_progress = hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
  hints->domain_attr->av_type = FI_AV_TABLE;
  hints->domain_attr->mr_mode = memory_modes;
  hints->fabric_attr->prov_name = strdup(provider.c_str());
  fi_info* found = nullptr;
  const int error =
      l.getinfo(provider_api, net::text_of(address).c_str(), nullptr, FI_SOURCE | FI_NUMERICHOST, hints, &found);
  l.freeinfo(hints);
  return error == 0 ? found : nullptr;
}

template <class Object>
void close_one(Object*& object) {
  if (object != nullptr) fi_close(&object->fid);
  object = nullptr;
}

}  // namespace

fi_info* find_collectives(std::string& why_not) {
  if (try_library(why_not) == nullptr) return nullptr;
  std::vector<std::string> asked = known_providers();
  if (*wanted_provider() != '\0') asked = {wanted_provider()};
  const std::vector<in_addr> addresses = net::allowed_addresses();
  why_not = "no provider of libfabric has collective operations; asked";
  for (const std::string& provider : asked) {
    for (in_addr address : addresses) {
      if (fi_info* found = ask(provider, address)) return found;
    }
    why_not.append(" ").append(provider);
  }
  return nullptr;
}

std::string name_of(const fi_info& info) {
  std::string name = info.fabric_attr->prov_name;
  if (info.src_addr != nullptr && info.addr_format == FI_SOCKADDR_IN)
    name += " at " + net::text_of(static_cast<const sockaddr_in*>(info.src_addr)->sin_addr);
  return name;
}

OfiCollectiveGroup::OfiCollectiveGroup(fi_info& info) {
  fi_eq_attr events = {};
  events.wait_obj = FI_WAIT_NONE;
  fi_cq_attr completions = {};
  completions.format = FI_CQ_FORMAT_CONTEXT;
  completions.wait_obj = FI_WAIT_NONE;
  fi_av_attr addresses = {};
  addresses.type = FI_AV_TABLE;
  (void)(must("fi_fabric", library().fabric(info.fabric_attr, &fabric_, nullptr)) &&
         must("fi_eq_open", fi_eq_open(fabric_, &events, &events_, nullptr)) &&
         must("fi_domain", fi_domain(fabric_, &info, &domain_, nullptr)) &&
         must("fi_av_open", fi_av_open(domain_, &addresses, &addresses_, nullptr)) &&
         must("fi_cq_open", fi_cq_open(domain_, &completions, &completions_, nullptr)) &&
         must("fi_endpoint", fi_endpoint(domain_, &info, &endpoint_, nullptr)) &&
         must("fi_ep_bind (completions)", fi_ep_bind(endpoint_, &completions_->fid, FI_TRANSMIT | FI_RECV)) &&
         must("fi_ep_bind (addresses)", fi_ep_bind(endpoint_, &addresses_->fid, 0)) &&
         must("fi_ep_bind (events)", fi_ep_bind(endpoint_, &events_->fid, 0)) &&
         must("fi_enable", fi_enable(endpoint_)));
}

// The endpoint goes first, and with it all that is under way.
void OfiCollectiveGroup::close() {
  close_one(endpoint_);
  close_one(group_);
  close_one(members_);
  close_one(completions_);
  close_one(addresses_);
  close_one(domain_);
  close_one(events_);
  close_one(fabric_);
  state_ = OfiGroupState::idle;
}

bool OfiCollectiveGroup::must(const char* call, int64_t result) {
  if (result == 0) return true;
  if (error_.empty()) error_ = std::string(call) + ": " + error_text(result);
  state_ = OfiGroupState::idle;
  return false;
}

MemberName OfiCollectiveGroup::name() {
  MemberName name;
  size_t bytes = sizeof name.text;
  if (error_.empty() && must("fi_getname", fi_getname(&endpoint_->fid, name.text, &bytes)))
    name.bytes = static_cast<uint32_t>(bytes);
  return name;
}

// Members stand in the address vector by their places, so a root's address is its place.
void OfiCollectiveGroup::join(const std::vector<MemberName>& names) {
  for (size_t place = 0; place < names.size(); ++place) {
    fi_addr_t inserted = FI_ADDR_UNSPEC;
    const int done = fi_av_insert(addresses_, names[place].text, 1, &inserted, 0, nullptr);
    const bool right = done == 1 && inserted == place;
    if (!must("fi_av_insert", right ? 0 : done < 0 ? done : -FI_EADDRNOTAVAIL)) return;
  }
  fi_av_set_attr all = {};
  all.count = names.size();
  all.end_addr = names.size() - 1;
  all.stride = 1;
  fi_addr_t address = FI_ADDR_UNSPEC;
  if (must("fi_av_set", fi_av_set(addresses_, &all, &members_, nullptr)) &&
      must("fi_av_set_addr", fi_av_set_addr(members_, &address)) &&
      must("fi_join_collective", fi_join_collective(endpoint_, address, members_, 0, &group_, &context_)))
    state_ = OfiGroupState::joining;
}

size_t OfiCollectiveGroup::most(fi_collective_op what, fi_datatype type, fi_op op) {
  fi_collective_attr attributes = {};
  attributes.op = op;
  attributes.datatype = type;
  if (fi_query_collective(domain_, what, &attributes, 0) != 0) return 0;
  return attributes.datatype_attr.count != 0 ? attributes.datatype_attr.count : SIZE_MAX;
}

void OfiCollectiveGroup::start(const OfiCall& call) {
  call_ = call;
  state_ = OfiGroupState::unposted;
  post();
}

void OfiCollectiveGroup::post() {
  const OfiCall& c = call_;
  int64_t result = 0;
  if (c.what == FI_BARRIER) {
    result = fi_barrier(endpoint_, address_, &context_);
  } else if (c.what == FI_BROADCAST) {
    result = fi_broadcast(endpoint_, c.result, c.count, nullptr, address_, static_cast<fi_addr_t>(c.root), c.type, 0,
                          &context_);
  } else {
    result = fi_allreduce(endpoint_, c.data, c.count, nullptr, c.result, nullptr, address_, c.type, c.op, 0, &context_);
  }
  if (result == -FI_EAGAIN) return;
  if (must("a collective operation", result)) state_ = OfiGroupState::posted;
}

bool OfiCollectiveGroup::finished() {
  if (state_ == OfiGroupState::unposted) post();
  if (state_ == OfiGroupState::joining && read_events()) {
    address_ = fi_mc_addr(group_);
    state_ = OfiGroupState::idle;
  }
  if (state_ != OfiGroupState::idle && read_completions()) state_ = OfiGroupState::idle;
  return state_ == OfiGroupState::idle;
}

// True: ours has come. Completions of a provider's own messages may be among them.
bool OfiCollectiveGroup::read_completions() {
  constexpr size_t most = 16;
  fi_cq_entry done[most];
  const auto count = fi_cq_read(completions_, done, most);
  if (count == -FI_EAGAIN) return false;
  if (count < 0) {
    fi_cq_err_entry entry = {};
    const bool told = count == -FI_EAVAIL && fi_cq_readerr(completions_, &entry, 0) == 1 && entry.err != 0;
    return !must("a collective operation", told ? -entry.err : count);
  }
  bool ours = false;
  for (int64_t i = 0; i < count; ++i)
    ours = ours || (state_ == OfiGroupState::posted && done[i].op_context == &context_);
  return ours;
}

bool OfiCollectiveGroup::read_events() {
  uint32_t event = 0;
  fi_eq_entry entry = {};
  const auto bytes = fi_eq_read(events_, &event, &entry, sizeof entry, 0);
  if (bytes == -FI_EAGAIN) return false;
  if (bytes < 0) {
    fi_eq_err_entry wrong = {};
    const bool told = bytes == -FI_EAVAIL && fi_eq_readerr(events_, &wrong, 0) > 0 && wrong.err != 0;
    (void)must("fi_join_collective", told ? -wrong.err : bytes);
    return false;
  }
  return event == FI_JOIN_COMPLETE;
}

}  // namespace weft::transport::ofi
