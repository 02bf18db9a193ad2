// SPDX-License-Identifier: Apache-2.0
#include "sluice/io/parquet_files.hpp"

#include <absl/strings/str_cat.h>

#include <atomic>
#include <cstring>

#include "sluice/base/status.hpp"

namespace sluice::lib {
namespace {

std::atomic<const parquet_library*> used_parquet = nullptr;

const parquet_library& parquet_in_use() {
  const parquet_library* library = used_parquet.load(std::memory_order_acquire);
  if (!library)
    throw_status(failed_precondition_error(
        "this program reads and writes no Parquet: the program sluice does if it was built with Arrow C++ (./dev deps "
        "formats), and a program of yours links sluice-parquet and calls register_parquet() "
        "(sluice/io/arrow_parquet.hpp); duckdb converts a file: duckdb -c \"copy (from 'a.parquet') to 'a.csv'\""));
  return *library;
}

}  // namespace

void use_parquet(const parquet_library& library) {
  static parquet_library kept;  // the libraries of one program are the same
  kept = library;
  used_parquet.store(&kept, std::memory_order_release);
}

bool has_parquet() noexcept { return used_parquet.load(std::memory_order_relaxed) != nullptr; }

std::unique_ptr<parquet_file> open_parquet(std::string_view footer, std::uint64_t size_bytes) {
  return parquet_in_use().open(footer, size_bytes);
}

std::unique_ptr<parquet_writer> write_parquet(const ArrowSchema& schema, const parquet_writing& how) {
  return parquet_in_use().write(schema, how);
}

result<std::uint64_t> find_parquet_footer(std::string_view tail, std::uint64_t size_bytes) {
  constexpr std::uint64_t kMagicBytes = 4;
  if (size_bytes < kMagicBytes + kParquetTailBytes || tail.size() < kParquetTailBytes)
    return data_loss_error(absl::StrCat("not a Parquet file: it has only ", size_bytes, " bytes"));
  tail = tail.substr(tail.size() - kParquetTailBytes);
  const std::string_view magic = tail.substr(kMagicBytes);
  if (magic == "PARE")
    return unimplemented_error("the Parquet file is encrypted, and encrypted files are not read: decrypt it first");
  if (magic != "PAR1") return data_loss_error("not a Parquet file, or cut short: it does not end with PAR1");
  std::uint32_t length = 0;
  std::memcpy(&length, tail.data(), sizeof length);
  if (length == 0 || length > size_bytes - kMagicBytes - kParquetTailBytes)
    return data_loss_error(absl::StrCat("damaged: the file of ", size_bytes, " bytes states a footer of ", length));
  return size_bytes - kParquetTailBytes - length;
}

}  // namespace sluice::lib
