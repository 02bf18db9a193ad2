// SPDX-License-Identifier: Apache-2.0
// Writes that succeed only if a file is what the writer believes it to be, for processes that share no kernel. File systems
// over object stores and memory_files have them; others do not.
//
//   conditional_files& files = conditional_files_of(rt, "s3://bucket/lease");
//   auto made = files.put_if("s3://bucket/lease", "mine", "");                  // only if there is no such object
//   file_info info = co_await made;
//   auto renewed = files.put_if("s3://bucket/lease", "mine, still", info.version);
//
// Errors: already_exists: the file has another version, or does not exist. An attempt whose answer was lost may have succeeded, and the
//         next one of the same call then fails with already_exists: read the file to find out whose bytes it has.
//         Otherwise those of file_system::create().
// Thread: any.
#pragma once

#include <string>

#include "sluice/io/file_system.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib {

class conditional_files {
 public:
  /// Writes a whole file of at most some MiB. `version`: that of the file to replace (file_info::version); "": there is
  /// none. One of several calls at the same time succeeds.
  virtual task<file_info> put_if(std::string path, std::string bytes, std::string version,
                                 time_point deadline = kNever) = 0;
  /// A file that does not exist is no error.
  virtual task<> remove(std::string path, time_point deadline = kNever) = 0;

 protected:
  ~conditional_files() = default;
};

/// The runtime's file systems, as files_of(rt): put_if() and remove() fail with unimplemented for the paths of a file
/// system without conditional writes.
conditional_files& conditional_files_of(runtime& rt);

}  // namespace sluice::lib
