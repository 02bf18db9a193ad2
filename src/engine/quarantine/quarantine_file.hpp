// SPDX-License-Identifier: Apache-2.0
// The file that stores the bad elements that a run drops: error, file, offset, number and bytes of each.
//
//   {"error":"the CRC of the data is wrong","code":"data_loss","stage":"tfrecord","file":"a.tfrecord","offset":120,"record":3,
//    "bytes":{"base64":"…"}}                                  // one line, if the path ends with .jsonl or .json
//
// Any other path is a TFRecord file. Its records are tf.Examples with the same names as features. Unknown members are
// left out. An entry ends with the place of the run, from which the element can be made again
// (engine/quarantine/quarantine_entry.hpp).
//
// An entry is written by one call when its element is counted. After a crash the next opening cuts off an incomplete
// entry. An entry that the file already contains, apart from the place of the run, is not written again, so a run that is
// resumed or restarted adds no duplicates. At kEntriesMax or kBytesMax the file is full: a last entry states this, and the run
// continues.
// Errors: failed_precondition: the path is a file with other content, which is left unchanged. unavailable: another
//         process or another run writes to it. resource_exhausted and others: reported by the system. All of them end the run.
// Owns:   the file and the lock of its path, from its first entry on, and eight bytes for each entry.
#pragma once

#include <memory>
#include <string>

#include "engine/quarantine/quarantine_entry.hpp"
#include "runtime/quarantine_sink.hpp"
#include "sluice/base/result.hpp"

namespace sluice::lib {

class locked_target;  // base/files/locked_target.hpp

inline constexpr std::size_t kQuarantineEntriesMax = 100'000;
inline constexpr std::uint64_t kQuarantineBytesMax = std::uint64_t{1} << 30;

/// Returns the sink of a path. The file is opened at the first entry. `run`: the table of the sink's run, which must
/// outlive it; null: entries have no place.
std::unique_ptr<quarantine_sink> open_quarantine_file(std::string path, std::size_t entries_max = kQuarantineEntriesMax,
                                                      std::uint64_t bytes_max = kQuarantineBytesMax,
                                                      const quarantine_table* run = nullptr);

/// Reads an entry of a file, by its number from 0. Errors: not_found and others, from the system; failed_precondition:
/// the file is something else; out_of_range: it has no such entry; data_loss: the entry is damaged.
result<stored_error> read_quarantined(const std::string& path, std::uint64_t number);

/// The lock of a quarantine's path, which excludes other processes as the lock of an output does. The runs of one process
/// share it. Null: the path has no lock, for example because its folder allows no new files.
using quarantine_lock = std::shared_ptr<const locked_target>;

/// Checks that bad elements can be stored under the path, and locks it. Creates no quarantine: if no file exists, its
/// folder is checked. Errors: as above.
status check_quarantine_file(const std::string& path, quarantine_lock& lock);

}  // namespace sluice::lib
