// SPDX-License-Identifier: Apache-2.0
// Numbers in readable form.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::lib::cli {

std::string grouped(std::uint64_t n);        ///< 1,200,000
std::string short_number(double n);          ///< 2.31 M
std::string short_bytes(double bytes);       ///< 402 MB, in powers of ten, as for disks and networks
std::string memory_size(std::size_t bytes);  ///< 64.0 MiB
std::string seconds_text(double seconds);    ///< 0.52 s, 12 min 3 s
std::string short_seconds(double seconds);   ///< 420 µs, 12.1 ms, 3.40 s
/// Returns true if this byte of UTF-8 continues a character.
inline bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }
/// Returns "map", or "map #2" if `number` distinguishes it from others of that name (site_report::number).
std::string numbered(const std::string& name, std::uint64_t number);
/// "1 element", "3 elements"
std::string counted(std::uint64_t n, const char* noun);

}  // namespace sluice::lib::cli
