// SPDX-License-Identifier: Apache-2.0
#include "sluice/base/small_file.hpp"

#include <catch2/catch.hpp>

#include "io/temporary_folder.hpp"

namespace sluice::lib::small_file_test {
using sluice::lib::testing::temporary_folder;

TEST_CASE("a small file of any size is read whole") {
  temporary_folder here;
  for (std::size_t size : {0, 1, 16383, 16384, 16385, 100'000}) {
    std::string bytes(size, '\0');
    for (std::size_t i = 0; i != size; ++i) bytes[i] = static_cast<char>(i * 7);
    std::string path = here.write("a", bytes);
    CHECK(read_small_file(path).value() == bytes);
    CHECK(read_small_file(path, size).ok());
    if (size) CHECK(read_small_file(path, size - 1).why().code() == status_code::out_of_range);
  }
}

TEST_CASE("a small file that cannot be read is named, and one without end is left") {
  temporary_folder here;
  std::string none = here.write("a", "") + ".none";
  CHECK(read_small_file(none).why().to_string() == "not_found: " + none + ": cannot read: No such file or directory");
  CHECK(read_small_file("/").why().to_string() == "invalid_argument: /: cannot read: Is a directory");
  CHECK(read_small_file("/dev/zero", 1 << 20).why().to_string() ==
        "out_of_range: /dev/zero: is longer than 1048576 bytes");
}

}  // namespace sluice::lib::small_file_test
