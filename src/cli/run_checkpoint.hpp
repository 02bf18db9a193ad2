// SPDX-License-Identifier: Apache-2.0
// The file of `run --checkpoint` and `--resume`: a position and the output that ends there.
#pragma once

#include <string>

#include "base/whole_file.hpp"
#include "cli/element_sink.hpp"
#include "sluice/coro/stream.hpp"

namespace sluice::lib::cli {

class run_checkpoint {
 public:
  /// Empty: no checkpoint is wanted. Throws `error`: the file cannot be written, or another run writes it.
  explicit run_checkpoint(const std::string& path);

  bool is_wanted() const { return is_wanted_; }
  /// Makes the sink durable, then the checkpoint of `position`, which names where the sink's output ends.
  status save(const std::string& position, element_sink& sink);

 private:
  const bool is_wanted_;
  replaced_file file_;
};

struct resumed {
  checkpoint at;  ///< empty: a run from its beginning
  output_place output;
};
/// Throws `error`, naming the file.
resumed read_resumed(const std::string& path);

}  // namespace sluice::lib::cli
