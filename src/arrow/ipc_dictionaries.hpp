// SPDX-License-Identifier: Apache-2.0
// The dictionaries of an Arrow stream, as columns of their values. A stream may replace a dictionary, and add values to
// one (a delta).
//
// Errors: of read(): those of read_ipc_batch; data_loss: no column has this dictionary, or values are added to one that
//         does not exist. The dictionary is broken then, until the stream replaces it, and batches with values of it
//         are errors: older values would be wrong.
// Thread: one.
// Owns:   the values. A batch that was read with them must not outlive the next read().
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "arrow/ipc_reader.hpp"
#include "sluice/element/batched.hpp"

namespace sluice::lib::arrow {

class ipc_dictionaries {
 public:
  ipc_dictionaries() = default;
  ipc_dictionaries(const ipc_dictionaries&) = delete;
  ipc_dictionaries& operator=(const ipc_dictionaries&) = delete;
  ~ipc_dictionaries() { clear(); }

  /// Reads a message of the kind `dictionary`. `how.bytes_max` also limits the values of this dictionary.
  status read(std::string_view metadata, std::string_view body, const ipc_schema& schema, const ipc_reading& how);
  /// Returns null if the stream has not defined the dictionary.
  const ArrowArray* find(std::int64_t id) const;
  bool is_broken(std::int64_t id) const;
  std::size_t memory_bytes() const { return memory_bytes_; }
  void clear();

 private:
  struct dictionary {
    batch_storage values;
    ArrowArray array{};
    bool is_broken = false;
  };

  static void release(dictionary& d);
  status add(const ipc_dictionary_field& field, const ArrowArray& values, bool is_delta, std::size_t bytes_max);

  std::unordered_map<std::int64_t, dictionary> all_;
  bool all_broken_ = false;
  std::size_t memory_bytes_ = 0;
};

}  // namespace sluice::lib::arrow
