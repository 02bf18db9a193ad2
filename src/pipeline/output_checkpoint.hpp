// SPDX-License-Identifier: Apache-2.0
// The file of a checkpoint with an output: a position and the place where the output ends there.
#pragma once

#include <string>

#include "base/files/whole_file.hpp"
#include "output/element_sink.hpp"
#include "sluice/coro/stream.hpp"

namespace sluice::lib {

class output_checkpoint {
 public:
  /// Takes the lock. With an empty path no checkpoint is written. Errors: the file cannot be written, or another run
  /// writes it; failed_precondition: it exists, is not empty, and is not a checkpoint.
  status open(const std::string& path);

  bool is_wanted() const { return is_wanted_; }
  /// Makes the sink durable, then the checkpoint of `position`, which includes the end of the sink's output.
  status save(const std::string& position, element_sink& sink);

 private:
  bool is_wanted_ = false;
  replaced_file file_;
};

struct resumed {
  checkpoint at;  ///< empty: the run starts from the beginning
  output_place output;
};
/// Errors: those of load_checkpoint; data_loss.
result<resumed> read_resumed(const std::string& path);

}  // namespace sluice::lib
