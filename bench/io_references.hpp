// SPDX-License-Identifier: Apache-2.0
// What reading files is measured against: loops over system calls and rings tuned by hand, without coroutines, formats or checks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice::lib::bench {

/// Everything that was written to the file system of `path` is on its disk.
void write_back(const std::string& path);
/// Nothing of these files, which have been written back, is in the page cache any more.
void evict(const std::vector<std::string>& paths);

/// Reads a file from its beginning to its end; returns how many bytes that were.
std::uint64_t read_by_pread(const std::string& path, std::size_t block_bytes);
/// The same by a ring, `depth` blocks in flight. `direct`: past the page cache.
std::uint64_t read_by_ring(const std::string& path, std::size_t block_bytes, unsigned depth, bool direct);

/// Opens, reads and closes each file, which has up to `bytes_max`; returns a sum over sizes and bytes.
std::uint64_t small_files_by_loop(const std::vector<std::string>& paths, std::size_t bytes_max);
/// The same by a ring, `depth` linked chains in flight: open to a direct descriptor, read, close.
std::uint64_t small_files_by_ring(const std::vector<std::string>& paths, std::size_t bytes_max, unsigned depth);
/// What the two add up: of one file.
std::uint64_t digest_of_file(const char* bytes, std::size_t n);

/// Reads `block_bytes` past the page cache at each offset, `depth` at once; returns a sum over the bytes.
std::uint64_t read_at_random(const std::string& path, const std::vector<std::uint64_t>& offsets,
                             std::size_t block_bytes, unsigned depth);
std::uint64_t digest_of_block(const char* bytes);

}  // namespace sluice::lib::bench
