// SPDX-License-Identifier: Apache-2.0
#include "op/parquet/planned_footer.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "engine/files/file_tail.hpp"
#include "sluice/base/hash.hpp"

namespace sluice::lib {
namespace {

result<std::string> read_footer(const std::string& path, std::uint64_t& size) {
  for (std::uint64_t wanted = kFooterGuessBytes;;) {
    auto tail = read_file_tail(path, wanted, size);
    if (!tail.ok()) return tail;
    auto at = find_parquet_footer(*tail, size);
    if (!at.ok()) return at.why().in_file(path);
    const std::uint64_t needed = size - *at;
    if (needed <= tail->size()) return tail->substr(tail->size() - static_cast<std::size_t>(needed));
    if (needed > kFooterBytesMax || wanted >= needed)
      return data_loss_error("damaged: its footer would have " + std::to_string(needed) + " bytes").in_file(path);
    wanted = needed;
  }
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
  std::uint64_t size = 0;
  auto tail = read_file_tail(path, std::max(bytes, known.footer_bytes), size);
  if (!tail.ok() || size != known.size_bytes || tail->size() < known.footer_bytes) return {};
  const auto at = tail->size() - static_cast<std::size_t>(known.footer_bytes);
  return digest_of_footer(std::string_view(*tail).substr(at)) == known.digest ? *std::move(tail) : std::string();
}

result<planned_footer> read_planned_footer(const std::string& path) {
  std::uint64_t size = 0;
  auto bytes = read_footer(path, size);
  if (!bytes.ok()) return bytes.why();
  try {
    planned_footer f{open_parquet(*bytes, size), 0, digest_of_footer(*bytes), size, bytes->size()};
    auto rows = rows_of(*f.file);
    if (!rows.ok()) return rows.why().in_file(path);
    f.rows = *rows;
    return f;
  } catch (const error& e) { return e.why().in_file(path); }
}

}  // namespace sluice::lib
