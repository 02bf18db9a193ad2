// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "runtime/seen_inputs.hpp"

namespace sluice::lib::seen_inputs_test {
using names = std::vector<std::string>;

namespace {

constexpr input_identity kOld{.size_bytes = 100, .modified_ns = 5'000, .inode = 7, .device = 1};

input_identity touched() {
  input_identity i = kOld;
  i.modified_ns += 1;
  return i;
}

/// The table of a run that goes on where `before` was saved.
struct resumed : seen_inputs {
  explicit resumed(const seen_inputs& before) { REQUIRE(restore(before.bytes())); }
};

void open_and_close(seen_inputs& table, const std::string& path, std::uint64_t epoch, const input_identity& now) {
  CHECK(table.file_opened(path, epoch, now).ok());
  table.file_closed(path);
}

}  // namespace

TEST_CASE("a file in another state than the saved run saw is reported, with the difference") {
  seen_inputs first;
  open_and_close(first, "a", 0, kOld);
  struct {
    input_identity now;
    const char* words;
  } changes[] = {
      {{.size_bytes = 120, .modified_ns = 5'000, .inode = 7, .device = 1}, "it had 100 bytes then, and has 120 now"},
      {touched(), "was written to since"},
      {{.size_bytes = 100, .modified_ns = 5'000, .inode = 8, .device = 1}, "another file in the same place"},
      {{.size_bytes = 100, .modified_ns = 5'000, .inode = 7, .device = 2}, "another file in the same place"},
  };
  for (auto& c : changes) {
    resumed table(first);
    status why = table.file_opened("a", 0, c.now);
    CHECK(why.code() == status_code::failed_precondition);
    CHECK(why.message().find(c.words) != std::string_view::npos);
    CHECK(why.message().find("--changed-inputs ignore") != std::string_view::npos);
    CHECK(table.file_opened("a", 0, c.now).ok());  // whoever goes on goes on with what is there
  }
  resumed table(first);
  CHECK(table.file_opened("a", 0, kOld).ok());
  CHECK(table.file_opened("b", 0, touched()).ok());  // never seen before
}

TEST_CASE("a file that changes during a run is no error, and the next run knows each epoch's state") {
  seen_inputs first;
  open_and_close(first, "a", 0, kOld);
  open_and_close(first, "a", 1, touched());
  {
    resumed table(first);  // its position is in epoch 1
    CHECK(table.file_opened("a", 1, touched()).ok());
    CHECK(table.file_opened("a", 2, kOld).ok());
  }
  {
    resumed table(first);  // its position goes back to epoch 0, whose bytes are gone
    CHECK(table.file_opened("a", 0, touched()).code() == status_code::failed_precondition);
  }
  {
    resumed table(first);
    CHECK(table.file_opened("a", 2, kOld).code() == status_code::failed_precondition);  // changed back since
  }
  seen_inputs within;
  open_and_close(within, "a", 3, kOld);
  open_and_close(within, "a", 3, touched());
  resumed table(within);
  CHECK(table.file_opened("a", 3, touched()).code() == status_code::failed_precondition);
}

TEST_CASE("another list of names is reported") {
  seen_inputs first;
  CHECK(first.listed("*", 0, {"a", "b"}).ok());
  CHECK(resumed(first).listed("*", 0, {"a", "b"}).ok());
  CHECK(resumed(first).listed("*", 5, {"a", "b"}).ok());
  CHECK(resumed(first).listed("?", 0, {"a"}).ok());
  status more = resumed(first).listed("*", 0, {"a", "b", "c"});
  CHECK(more.code() == status_code::failed_precondition);
  CHECK(more.message().find("there were 2, and there are 3") != std::string_view::npos);
  CHECK(resumed(first).listed("*", 0, {"a", "c"}).code() == status_code::failed_precondition);
  CHECK(resumed(first).listed("*", 0, {"b", "a"}).code() == status_code::failed_precondition);
}

TEST_CASE("a table keeps the open files and the last thousand closed ones, in 16 bytes each") {
  seen_inputs first;
  for (int i = 0; i != 50; ++i) CHECK(first.file_opened("open-" + std::to_string(i), 0, kOld).ok());
  for (int i = 0; i != 3000; ++i) open_and_close(first, "closed-" + std::to_string(i), 0, kOld);
  std::string bytes = first.bytes();
  CHECK(bytes.size() < (1000 + 50) * 16);
  resumed table(first);
  CHECK_FALSE(table.file_opened("open-0", 0, touched()).ok());
  CHECK_FALSE(table.file_opened("closed-2999", 0, touched()).ok());
  CHECK_FALSE(table.file_opened("closed-2000", 0, touched()).ok());
  CHECK(table.file_opened("closed-1999", 0, touched()).ok());
  CHECK(resumed(first).bytes() == bytes);  // nothing is lost by a run that opens nothing
  for (int i = 0; i != 20'000; ++i) open_and_close(first, "a", static_cast<std::uint64_t>(i), i % 2 ? kOld : touched());
  CHECK(first.bytes().size() < bytes.size() + 100);
}

TEST_CASE("there is no position in a stream") {
  seen_inputs table;
  CHECK(table.resumable().ok());
  table.stream_opened("-");
  CHECK(table.resumable().to_string().find("failed_precondition: standard input: cannot be read again") == 0);
}

TEST_CASE("damaged tables are refused or harmless") {
  seen_inputs first;
  for (int i = 0; i != 5; ++i) open_and_close(first, std::to_string(i), 0, kOld);
  open_and_close(first, "0", 1, touched());
  CHECK(seen_inputs().bytes().empty());
  CHECK(seen_inputs().restore(""));
  CHECK(first.listed("*", 0, {"a"}).ok());
  std::string good = first.bytes();
  std::size_t refused = 0;
  for (std::size_t size = 1; size != good.size(); ++size) CHECK_FALSE(seen_inputs().restore(good.substr(0, size)));
  for (std::size_t at = 0; at != good.size(); ++at)
    for (char byte : {'\x00', '\x01', '\x7f', '\xff'}) {
      std::string bad = good;
      bad[at] = byte;
      seen_inputs table;
      refused += !table.restore(bad);
    }
  CHECK(refused > 0);
}

}  // namespace sluice::lib::seen_inputs_test
