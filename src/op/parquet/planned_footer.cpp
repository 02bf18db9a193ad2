// SPDX-License-Identifier: Apache-2.0
#include "op/parquet/planned_footer.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "engine/files/file_tail.hpp"
#include "sluice/base/hash.hpp"

namespace sluice::lib {
namespace {

/// Returns the last bytes of the file, which have the footer, and the footer's offset.
result<file_tail> read_footer(const std::string& path, std::uint64_t& at) {
  result<std::uint64_t> found = std::uint64_t{0};
  auto tail = read_file_tail(path, kFooterGuessBytes, [&](const file_tail& t) {
    found = find_parquet_footer(t.bytes, t.size_bytes);
    const std::uint64_t needed = found.ok() ? t.size_bytes - *found : 0;
    return needed <= kFooterBytesMax ? needed : 0;
  });
  if (!tail.ok()) return tail;
  if (!found.ok()) return found.why().in_file(path);
  at = *found;
  const std::uint64_t needed = tail->size_bytes - at;
  if (needed <= tail->bytes.size()) return tail;
  return data_loss_error("damaged: its footer would have " + std::to_string(needed) + " bytes").in_file(path);
}

}  // namespace

result<std::uint64_t> rows_of(const parquet_file& file) {
  constexpr std::uint64_t kRowsMax = std::uint64_t{1} << 62;
  std::uint64_t rows = 0;
  for (std::size_t g = 0; g != file.groups(); ++g) {
    rows += std::min(file.rows(g), kRowsMax);
    if (rows >= kRowsMax) return data_loss_error("the footer states more than 2^62 rows");
  }
  return rows;
}

std::uint64_t digest_of_footer(std::string_view footer) { return stable_hash(footer, 0); }

std::string read_same_tail(const std::string& path, std::uint64_t bytes, const planned_footer& known) {
  if (bytes <= known.tail.size()) return known.tail;
  const std::uint64_t footer_bytes = known.footer_bytes;
  auto tail = read_file_tail(path, std::max(bytes, footer_bytes));
  if (!tail.ok() || tail->size_bytes != known.size_bytes || tail->bytes.size() < footer_bytes) return {};
  const auto at = tail->bytes.size() - static_cast<std::size_t>(footer_bytes);
  const bool is_same = digest_of_footer(std::string_view(tail->bytes).substr(at)) == known.digest;
  return is_same ? std::move(tail->bytes) : std::string();
}

result<planned_footer> read_planned_footer(const std::string& path) {
  std::uint64_t at = 0;
  auto tail = read_footer(path, at);
  if (!tail.ok()) return tail.why();
  const std::uint64_t size = tail->size_bytes;
  const std::string_view footer = std::string_view(tail->bytes).substr(tail->bytes.size() - (size - at));
  try {
    planned_footer f{open_parquet(footer, size), 0, digest_of_footer(footer), size, size - at};
    f.version = std::move(tail->version);
    f.tail = std::move(tail->bytes);
    auto rows = rows_of(*f.file);
    if (!rows.ok()) return rows.why().in_file(path);
    f.rows = *rows;
    return f;
  } catch (const error& e) { return e.why().in_file(path); }
}

}  // namespace sluice::lib
