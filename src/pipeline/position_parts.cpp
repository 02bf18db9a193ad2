// SPDX-License-Identifier: Apache-2.0
#include "pipeline/position_parts.hpp"

#include "sluice/coro/position.hpp"

namespace sluice::lib {

std::vector<position_part> parts_of_position(std::string_view position) {
  std::vector<position_part> parts;
  for (position_reader all(position); !all.done();) {
    const std::string_view rest = all.remaining();
    position_record one;
    all.raw(&one.site, sizeof one.site);
    position_reader body(all.text());
    one.ordinal = body.number();
    const std::uint64_t pass_and_flag = body.number();
    one.to_pass = pass_and_flag >> 1;
    if (pass_and_flag & 1) one.version = static_cast<std::uint32_t>(body.number());
    one.saved = body.remaining();
    if (!all.ok() || !body.ok() || one.to_pass > one.ordinal || parts.size() == position_records::kRecordsMax)
      throw_status(damaged_position());
    parts.push_back({std::string(rest.substr(0, rest.size() - all.remaining().size())), one});
  }
  return parts;
}

void append_record(const written_record& r, std::string& position) {
  position_writer body, all;
  body.number(r.ordinal);
  body.number(r.to_pass << 1 | (r.version != 0));
  if (r.version) body.number(r.version);
  body.raw(r.saved.data(), r.saved.size());
  all.raw(&r.site, sizeof r.site);
  all.text(body.bytes());
  position += all.bytes();
}

}  // namespace sluice::lib
