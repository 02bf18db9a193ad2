// SPDX-License-Identifier: Apache-2.0
// Files in memory, under mem://: for tests, and for servers that receive bytes from elsewhere.
//
//   runtime rt;
//   memory_files files = add_memory_files(rt);
//   files.put("mem://upload/a.csv.gz", std::move(bytes));
//   auto rows = lines("mem://upload/a.csv.gz");            // any verb with a path; list_files("mem://upload/**")
//   …
//   co_await write(rt, range(3), "mem://out/a.jsonl");     // the file exists when it is complete
//   std::optional<std::string> text = files.get("mem://out/a.jsonl");
//
// A path is "mem://" and any characters. Folders do not exist: a / in a path only matters for patterns. A file never
// changes: put() and commit() replace it, and a reader that has it open continues to read the old one. Its version
// depends on its bytes, so a checkpoint can be resumed by another process that has put the same bytes there.
// Errors: open: not_found. create: unavailable if another writer is writing a file of that path.
// Owns:   the bytes belong to the user: the ledger of a runtime counts only the buffers into which they are read.
// Thread: any.
// See:    io/memory_files.cpp: a scheme that uses public headers only, and an example for your own (docs/embedding.md).
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

  /// Creates or replaces a file. Errors: throws invalid_argument: the path does not begin with mem://.
  void put(std::string_view path, std::string bytes);
  /// Returns a copy of the file's bytes; nullopt if the file does not exist.
  std::optional<std::string> get(std::string_view path) const;
  /// Removes a file. Returns false if it does not exist. A reader that has it open continues to read it.
  bool remove(std::string_view path);
  /// The number of files.
  std::size_t size() const;
  /// The number of bytes in all files.
  std::size_t size_bytes() const;

  struct shared_state;

 private:
  friend memory_files add_memory_files(runtime& rt, memory_files files);
  std::shared_ptr<shared_state> state_;
};

/// Serves the runtime's mem:// paths from these files from now on. Errors: those of add_files.
memory_files add_memory_files(runtime& rt, memory_files files = {});

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::add_memory_files;
using lib::memory_files;

}  // namespace sluice
