// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output_checkpoint.hpp"

#include <utility>

#include "pipeline/checkpoint_bytes.hpp"
#include "sluice/pipeline/checkpoint_file.hpp"

namespace sluice::lib {

status output_checkpoint::open(const std::string& path) {
  is_wanted_ = !path.empty();
  return is_wanted_ ? file_.open(path) : status();
}

status output_checkpoint::save(const std::string& position, element_sink& sink) {
  output_place place;
  status why = sink.commit(place);
  if (!why.ok()) return why;
  sink.keep();
  return file_.replace(checkpoint_bytes({position}, to_bytes(place)));
}

result<resumed> read_resumed(const std::string& path) {
  resumed from;
  std::string place;
  auto at = load_checkpoint(path, &place);
  if (!at.ok()) return at.why();
  from.at = *std::move(at);
  status why = read_place(place, from.output);
  if (!why.ok()) return why.in_file(path);
  return from;
}

}  // namespace sluice::lib
