// SPDX-License-Identifier: Apache-2.0
// Files in memory, under mem://: for tests, and for servers that were given bytes by somebody else.
//
//   runtime rt;
//   memory_files files = add_memory_files(rt);
//   files.put("mem://upload/a.csv.gz", std::move(bytes));
//   auto rows = lines("mem://upload/a.csv.gz");            // any verb that takes a path, and list_files("mem://upload/**")
//   …
//   co_await write(rt, range(3), "mem://out/a.jsonl");     // there when it is whole, and not before
//   std::optional<std::string> text = files.get("mem://out/a.jsonl");
//
// A path is "mem://" and any characters. There are no folders: a / in a path is for patterns.
// A file does not change: put() and commit() replace it, and who has it open reads on in the old one. Its version is made of its
// bytes, so that a checkpoint is resumed by another process which has put the same bytes there.
// Errors: of opening: not_found. Of create: unavailable, where somebody else writes a file of that path.
// Owns:   the bytes belong to the user's side: the ledger of a runtime does not count them, only the buffers into which
//         they are read.
// Thread: any.
// See:    io/memory_files.cpp: a scheme made with public headers alone, to begin one of your own from (docs/embedding.md).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sluice/io/files.hpp"

namespace sluice::lib {

/// Copies share the files.
class memory_files {
 public:
  memory_files();

  /// Makes or replaces a file. Errors: throws invalid_argument: the path does not begin with mem://.
  void put(std::string_view path, std::string bytes);
  /// A copy of its bytes; nothing: there is no such file.
  std::optional<std::string> get(std::string_view path) const;
  /// Returns false if there is no such file. Who has it open reads on.
  bool remove(std::string_view path);
  /// How many there are.
  std::size_t size() const;
  /// Of all of them.
  std::size_t size_bytes() const;

  struct shared_state;

 private:
  friend memory_files add_memory_files(runtime& rt, memory_files files);
  std::shared_ptr<shared_state> state_;
};

/// From now on the runtime's paths of mem:// are these files. Errors: as add_files.
memory_files add_memory_files(runtime& rt, memory_files files = {});

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::add_memory_files;
using lib::memory_files;

}  // namespace sluice
