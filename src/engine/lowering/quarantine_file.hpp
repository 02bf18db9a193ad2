// SPDX-License-Identifier: Apache-2.0
// The file that keeps the bad elements that a run drops: error, file, offset, number and bytes of each.
//
//   {"error":"the CRC of the data is wrong","code":"data_loss","stage":"tfrecord","file":"a.tfrecord","offset":120,"record":3,
//    "bytes":{"base64":"…"}}                                  // a line of a path in .jsonl or .json
// Other paths are TFRecords, whose records are tf.Examples with the same names as features. Members that are not known are left out.
//
// An entry is written whole, by one call, when its element is counted; the rest of an entry after a crash is cut off
// when the file is opened next. An entry that exists already, byte for byte, is not written again: a run that is
// resumed or restarted adds no duplicates. At kEntriesMax or kBytesMax the file is full: a last entry says so, and the
// run continues.
// Errors: failed_precondition: the path is a file that is not one of these (it is left as it is). unavailable: another process
//         or another run writes to it. resource_exhausted and others, as the system says. They end the run.
// Owns:   the file and the lock of its path, from its first entry on, and eight bytes for each entry.
#pragma once

#include <memory>
#include <string>

#include "runtime/quarantine_sink.hpp"

namespace sluice::lib {

class locked_target;  // base/files/locked_target.hpp

inline constexpr std::size_t kQuarantineEntriesMax = 100'000;
inline constexpr std::uint64_t kQuarantineBytesMax = std::uint64_t{1} << 30;

/// Opens nothing yet.
std::unique_ptr<quarantine_sink> open_quarantine_file(std::string path, std::size_t entries_max = kQuarantineEntriesMax,
                                                      std::uint64_t bytes_max = kQuarantineBytesMax);

/// The lock of a quarantine's path, which excludes other processes as the lock of an output does. The runs of one process
/// share it. Null: the path has no lock, for example because its folder allows no new files.
using quarantine_lock = std::shared_ptr<const locked_target>;

/// Checks whether bad elements could be kept at the path, and takes its lock. Creates no quarantine: if the file does not
/// exist, its folder is examined. Errors: as above.
status check_quarantine_file(const std::string& path, quarantine_lock& lock);

}  // namespace sluice::lib
