// SPDX-License-Identifier: Apache-2.0
// The stage of distribute: the plan of its input is cut (splits/split_plan.hpp). Its streams come from workers, and the
// stages downstream of the cut run here, in the place of distribute.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/lowering/open_context.hpp"
#include "op/distribute/open_distribute.hpp"
#include "optimizer/sent_rules.hpp"
#include "plan/plan_parts.hpp"
#include "runtime/quarantine_sink.hpp"
#include "service/client/absolute_paths.hpp"
#include "service/client/consumer.hpp"
#include "service/client/sent_plan.hpp"
#include "service/client/split_stages.hpp"
#include "service/host/embedded.hpp"
#include "service/wire/packed_frames.hpp"
#include "sluice/base/random_bits.hpp"
#include "sluice/io/open_transport.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/runtime/runtime.hpp"
#include "sluice/splits/split_plan.hpp"
#include "splits/shards.hpp"

namespace sluice::lib {
namespace {

split_options split_options_of(const distribute_options& o) {
  return {.splits = static_cast<std::uint64_t>(o.splits),
          .split_bytes = static_cast<std::uint64_t>(o.split_bytes.value),
          .split_elements = static_cast<std::uint64_t>(o.split_elements),
          .visitation = o.visitation};
}

/// A stream as the dispatcher and the workers know it.
dataset_info info_of(const std::string& plan, const element_type& type, const distribute_options& o,
                     error_policy on_error) {
  dataset_info info = info_of_plan(plan, type, fingerprint(*parse_plan(plan)));
  info.visitation = std::string(to_string(o.visitation));
  info.splits = static_cast<std::uint64_t>(o.splits);
  info.split_bytes = static_cast<std::uint64_t>(o.split_bytes.value);
  info.split_elements = static_cast<std::uint64_t>(o.split_elements);
  info.on_error = on_error == error_policy::skip ? "skip" : "stop";
  return info;
}

void check_codec(frame_compression wanted) {
  if (wanted == frame_compression::automatic || wanted == frame_compression::none) return;
  const frame_codec c = wanted == frame_compression::zstd ? frame_codec::zstd : frame_codec::lz4;
  if (std::ranges::find(frame_codecs(), c) != frame_codecs().end()) return;
  throw error(unimplemented_error(absl::StrCat("distribute: this build has no ", std::string(name_of(c)),
                                               "; write compression=automatic, or build with the library")));
}

/// Addresses of transports within a process begin with this.
constexpr std::string_view kThisProcess = "local:";

/// Adds the files that the stages of a plan name for their bad elements.
void add_quarantines(const node& n, std::set<std::string>& to) {
  if (n.errors.quarantine.is_given()) to.insert(n.errors.quarantine.path);
  for_each_plan(n, [&to](const node_ptr& inner) { add_quarantines(*inner, to); });
  for (const node_ptr& input : n.inputs) add_quarantines(*input, to);
}

class distributing {
 public:
  distributing(const node& n, open_context& context)
      : node_(n), context_(context), options_(n.as<distribute_arguments>().options) {
    options_.order = context.order_of(options_.order);
    const std::string& address = n.as<distribute_arguments>().address;
    check_codec(options_.compression);
    link_ = address.empty() ? embedded_service(context.run, options_)
                            : std::make_shared<service_link>(transport_of(*context.run->rt), address,
                                                             std::chrono::nanoseconds(options_.patience.value));
  }

  node_ptr client_plan() const {
    const node_ptr& in = node_.inputs[0];
    if (options_.mode != sharding::dynamic) {
      check_sends(*in);
      const bool may_differ = options_.mode == sharding::off && options_.visitation != visitation::exactly_once;
      if (const status why = why_not_divisible(*in); !may_differ && !why.ok()) throw error(why);
      return stream_of(plan_text(*in), *in->type, 0);
    }
    const split_plan parts(in, split_options_of(options_));
    std::vector<node_ptr> streams;
    for (const split_stream& s : parts.streams())
      streams.push_back(
          stream_of(s.text, parts.type_of_stream(static_cast<std::uint32_t>(streams.size())), streams.size()));
    return optimized_part(node_, parts.client_plan(streams));
  }

 private:
  /// `text`: as written here. Workers at an address may run in another folder, or on another machine.
  node_ptr stream_of(std::string text, const element_type& type, std::size_t number) const {
    const std::string& address = node_.as<distribute_arguments>().address;
    const bool is_embedded = address.empty();
    if (!is_embedded && !address.starts_with(kThisProcess)) text = plan_text_with_absolute_paths(*parse_plan(text));
    auto me =
        std::make_shared<consumer>(context_.run, link_, info_of(text, type, options_, context_.on_error), options_,
                                   rules_of_input(node_), static_cast<std::uint32_t>(number), !is_embedded);
    me->set_quarantines(quarantines());
    // A worker of this process reads one split at a time, as the plan without distribute reads its files.
    const std::int64_t at_once = options_.splits_at_once;
    return distributed_stream(me, type, is_embedded ? std::min<std::int64_t>(options_.workers, at_once) : at_once);
  }

  /// The files for the bad elements that workers drop. A run that replays one of this process stores nothing.
  consumer::quarantine_sinks quarantines() const {
    consumer::quarantine_sinks all;
    if (context_.run->quarantines->watch()) return all;
    std::set<std::string> paths;
    add_quarantines(node_, paths);
    if (const quarantine& of_run = context_.run->quarantine; of_run.is_given()) paths.insert(of_run.path);
    if (context_.run->quarantines->maker()) paths.insert("");  // this is a worker, whose consumer stores them
    for (const std::string& path : paths) all.emplace(path, context_.quarantine_at(path));
    return all;
  }

  const node& node_;
  open_context& context_;
  distribute_options options_;
  std::shared_ptr<service_link> link_;
};

}  // namespace

erased_stream open_distribute(const node& n, open_context& context) {
  return context.open(distributing(n, context).client_plan());
}

}  // namespace sluice::lib
