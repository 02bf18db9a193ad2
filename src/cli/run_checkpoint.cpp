// SPDX-License-Identifier: Apache-2.0
#include "cli/run_checkpoint.hpp"

#include "pipeline/checkpoint_bytes.hpp"
#include "sluice/pipeline/checkpoint_file.hpp"

namespace sluice::lib::cli {

run_checkpoint::run_checkpoint(const std::string& path) : is_wanted_(!path.empty()) {
  if (!is_wanted_) return;
  status why = file_.open(path);
  if (!why.ok()) throw_status(why);
}

status run_checkpoint::save(const std::string& position, element_sink& sink) {
  output_place place;
  status why = sink.commit(place);
  if (!why.ok()) return why;
  sink.keep();
  return file_.replace(checkpoint_bytes({position}, to_bytes(place)));
}

resumed read_resumed(const std::string& path) {
  resumed from;
  std::string place;
  from.at = load_checkpoint(path, &place).value();
  status why = read_place(place, from.output);
  if (!why.ok()) throw_status(why.in_file(path));
  return from;
}

}  // namespace sluice::lib::cli
