// SPDX-License-Identifier: Apache-2.0
// Objects whose reader knows the ranges that it needs.
#include <catch2/catch.hpp>

#include "http/http_world.hpp"
#include "http/whole_object.hpp"
#include "sluice/io/file_system.hpp"

namespace sluice::lib::exact_reads_test {
using namespace sluice::lib::testing;

TEST_CASE("a file that is read exactly requests the ranges of its reads, over one connection") {
  for (bool begins : {false, true}) {
    http_world w;
    const std::string all = some_bytes(5 * kMiB);
    w.server.put("/a", all, "\"v1\"");
    auto client = [](http_world& in, std::string bytes, std::uint64_t begin_bytes) -> task<> {
      open_options how;
      how.reading = open_options::exact;
      how.begin_bytes = begin_bytes;
      auto opening = in.files->open(kUrl, std::move(how));
      std::unique_ptr<file> f = co_await opening;
      CHECK(f->size_bytes() == bytes.size());
      buffer_ref room(buffer::make(bytes.size()));
      for (auto [offset, n] : {std::pair<std::size_t, std::size_t>{0, 100}, {5 * kMiB - 8, 8}, {700, 3}, {703, 3}}) {
        if (offset == 0 && begin_bytes == 0) continue;
        buffer_ref share = room;
        auto reading = f->read_at(offset, std::move(share), 0, n);
        const std::size_t got = co_await reading;
        CHECK(got == n);
        CHECK(std::string_view(room->data(), n) == std::string_view(bytes).substr(offset, n));
      }
    };
    CHECK(w.run(client(w, all, begins ? 100 : 0)).ok());
    std::vector<std::string> ranges;
    for (const asked_for& one : w.server.log()) ranges.push_back(field_of(one.head, "Range"));
    const std::string first = begins ? "bytes=0-99" : "bytes=0-0";
    CHECK(ranges == std::vector<std::string>{first, "bytes=5242872-5242879", "bytes=700-702", "bytes=703-705"});
    CHECK(w.server.connections() == 1);
  }
}

}  // namespace sluice::lib::exact_reads_test
