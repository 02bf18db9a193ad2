// SPDX-License-Identifier: Apache-2.0
// The system calls that writers of files share. They restart calls that a signal interrupts.
//
// Errors: false or -1, with errno set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::lib {

/// Opens a descriptor that exec closes.
int open_again(const std::string& path, int flags, unsigned mode = 0);
/// Appends all bytes up to the end to `bytes`, and waits even if `fd` does not block. Fails with EFBIG for more than
/// `bytes_max` bytes, and then reads hardly more than that.
bool read_all(int fd, std::size_t bytes_max, std::string& bytes);
/// Reads up to `n` bytes at this offset. Returns their number, which is less only at the end of the file.
std::ptrdiff_t read_at(int fd, char* to, std::size_t n, std::uint64_t offset_bytes);
/// Writes all of `bytes`, with as many calls as necessary.
bool write_all(int fd, std::string_view bytes);
/// Writes all parts consecutively from this offset on. Returns the number of their bytes.
std::ptrdiff_t write_parts_at(int fd, const std::vector<std::string_view>& parts, std::uint64_t offset_bytes);
/// Takes the kernel's lock of the open file, without waiting for another process that has it.
bool try_lock(int fd);
/// Shortens the file, or lengthens it with zeros.
bool cut_file(int fd, std::uint64_t length_bytes);
/// Returns after the disk has stored the written bytes. A pipe or a device cannot be synchronized, and need not be.
bool sync_file(int fd);
/// Asks the system to begin to store these bytes, so that a later sync_file() takes less time. Guarantees nothing.
void begin_sync(int fd, std::uint64_t offset_bytes, std::uint64_t bytes) noexcept;
/// Returns after the disk has stored the folder's names: a file that was created or renamed there exists after a power
/// cut.
bool sync_folder(const std::string& folder);

}  // namespace sluice::lib
