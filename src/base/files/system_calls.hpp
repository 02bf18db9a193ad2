// SPDX-License-Identifier: Apache-2.0
// The system calls that writers of files share, begun again where a signal interrupts them.
//
// Errors: false or -1, with errno set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::lib {

/// A descriptor that exec closes.
int open_again(const std::string& path, int flags, unsigned mode = 0);
/// Appends to `bytes` what comes until the end, waiting where `fd` does not block. EFBIG: that is more than `bytes_max`, of
/// which hardly more is read.
bool read_all(int fd, std::size_t bytes_max, std::string& bytes);
/// All of `bytes`, by as many calls as it takes.
bool write_all(int fd, std::string_view bytes);
/// Cuts the file off, or lengthens it with zeros.
bool cut_file(int fd, std::uint64_t length_bytes);
/// Returns once the disk has what was written. A pipe or a device cannot be synchronised, and need not.
bool sync_file(int fd);
/// Returns once the disk has the folder's names: a file that was made or renamed there is found after a power cut.
bool sync_folder(const std::string& folder);

}  // namespace sluice::lib
