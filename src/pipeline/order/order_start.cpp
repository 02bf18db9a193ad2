// SPDX-License-Identifier: Apache-2.0
#include "pipeline/order/order_start.hpp"

#include <string>
#include <utility>
#include <vector>

#include "pipeline/position_parts.hpp"
#include "sluice/element/type_text.hpp"

namespace sluice::lib {

order_start start_of_order(const node& written, const iterate_options& o, bool on_demand, sealed_position& from) {
  order_start start;
  start.site = order_site(written);
  const bool had = !from.order.empty();
  order_fingerprint before;
  if (had && !read_order(from.order, before)) throw_status(damaged_position());
  const bool counts = !on_demand && (o.order_fingerprint.is_given() ? o.order_fingerprint.is_on() : had);
  if (counts && !can_count_order(*written.type))
    throw_status(invalid_argument_error("order_fingerprint: the contents of " + type_text(*written.type) +
                                        " are not known to the library; leave the option out, or end the plan with "
                                        "a map to values"));
  std::uint64_t ordinal = 0;
  row_numbers numbers;
  if (counts || !from.position.empty()) numbers = row_numbers_of(written, o.on_error != error_policy::stop);
  if (from.position.empty()) before.is_across_counted = true;
  if (!from.position.empty()) {
    const std::vector<position_part> parts = parts_of_position(from.position);
    if (parts.empty() || (had && parts.front().record.site != start.site)) throw_status(damaged_position());
    const position_record& first = parts.front().record;
    const node* shard = numbers.is_known ? shard_of_consumers(written) : nullptr;
    for (const position_part& p : parts) {
      if (!shard || p.record.site != shard->site) continue;
      position_reader saved(p.record.saved, p.record.version);
      numbers.rest.load(saved);
      if (!saved.ok() || !saved.done()) throw_status(damaged_position());
      break;
    }
    ordinal = had ? first.ordinal : 0;
    if (!before.is_counted) before = {.is_counted = true, .since = before.since + first.ordinal};
    if (had && !counts) {
      start.to_pass = first.to_pass;
      from.position.erase(0, parts.front().bytes.size());
    } else if (counts && !had) {
      std::string longer;
      append_record({.site = start.site, .version = 0, .ordinal = 0, .to_pass = 0, .saved = std::string(1, '\0')},
                    longer);
      from.position.insert(0, longer);
    }
  }
  if (counts) start.log = std::make_shared<order_log>(std::move(before), ordinal, std::move(numbers));
  return start;
}

}  // namespace sluice::lib
