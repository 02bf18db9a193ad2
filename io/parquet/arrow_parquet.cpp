// SPDX-License-Identifier: Apache-2.0
#include "sluice/io/arrow_parquet.hpp"

#include "io/parquet/file_writer.hpp"
#include "io/parquet/footer.hpp"

namespace sluice::lib {

void register_parquet() {
  parquet_library library;
  library.open = [](std::string_view bytes, std::uint64_t size_bytes) -> std::unique_ptr<parquet_file> {
    return std::make_unique<arrow_parquet::footer>(bytes, size_bytes);
  };
  library.write = arrow_parquet::make_file_writer;
  use_parquet(library);
}

}  // namespace sluice::lib
