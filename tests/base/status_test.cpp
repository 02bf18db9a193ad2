// SPDX-License-Identifier: Apache-2.0
#include "sluice/base/status.hpp"

#include <cerrno>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/base/absl_status.hpp"
#include "sluice/base/result.hpp"

namespace sluice::lib::status_test {
namespace {

// What current_exception_status makes of whatever `thrower` throws.
template <class F> status status_of(F thrower) {
  try {
    thrower();
  } catch (...) { return current_exception_status(); }
  return {};
}

TEST_CASE("the default status is ok and has the size of one pointer") {
  status s;
  CHECK(s.ok());
  CHECK(s.code() == status_code::ok);
  CHECK(s.message().empty());
  CHECK(s.to_string() == "ok");
  CHECK(sizeof(status) == sizeof(void*));
}

TEST_CASE("a status made with the code ok is ok for any message") {
  status s(status_code::ok, "fine");
  CHECK(s.ok());
  CHECK(s.message().empty());
}

TEST_CASE("every code has its own name and unknown numbers do not crash") {
  std::vector<std::string_view> seen;
  for (int i = 0; i <= 16; ++i) {
    auto name = to_string(static_cast<status_code>(i));
    for (auto other : seen) CHECK(name != other);
    seen.push_back(name);
  }
  CHECK(seen[0] == "ok");
  CHECK(seen[15] == "data_loss");
  CHECK(to_string(static_cast<status_code>(200)) == "unknown");
}

TEST_CASE("the constructors by name carry their code and message") {
  CHECK(not_found_error("x").code() == status_code::not_found);
  CHECK(data_loss_error("x").code() == status_code::data_loss);
  CHECK(invalid_argument_error("why").message() == "why");
  CHECK(cancelled_error().code() == status_code::cancelled);
  CHECK(cancelled_error().message() == "stopped");
}

TEST_CASE("copies share and outlive the original") {
  auto original = std::make_unique<status>(internal_error("kept"));
  status copy = *original;
  status moved = std::move(*original);
  original.reset();
  CHECK(copy.message() == "kept");
  CHECK(moved.message() == "kept");
  status& alias = copy;
  copy = alias;  // assignment to itself must keep the representation
  CHECK(copy.message() == "kept");
  copy = status();
  CHECK(copy.ok());
  CHECK(moved.message() == "kept");
}

TEST_CASE("provenance prints stage, file, byte and record in this order") {
  status s = data_loss_error("bad crc").in_file("a.tfrecord", 81920, 17).in_stage("tfrecord");
  CHECK(s.to_string() == "data_loss: tfrecord: a.tfrecord at byte 81920, record 17: bad crc");
  CHECK(s.where().offset_bytes == 81920);
  CHECK(s.where().record_index == 17);
}

TEST_CASE("a stage that computes names the element that failed") {
  status s = unknown_error("boom").in_stage("map", 7);
  CHECK(s.to_string() == "unknown: map at element 7: boom");
  CHECK(s.where().element == 7);
  CHECK(s.in_stage("batch", 8).where().element == 7);
}

TEST_CASE("a file without offset prints neither byte nor record") {
  CHECK(not_found_error("no such file").in_file("x").to_string() == "not_found: x: no such file");
  CHECK(data_loss_error("m").in_file("x", 0).to_string() == "data_loss: x at byte 0: m");
}

TEST_CASE("the place recorded by an inner layer is kept") {
  status s = data_loss_error("m").in_file("inner", 1, 2).in_stage("first");
  status outer = s.in_file("outer", 3, 4).in_stage("second");
  CHECK(outer.where().file == "inner");
  CHECK(outer.where().offset_bytes == 1);
  CHECK(outer.where().stage == "first");
}

TEST_CASE("adding provenance leaves the original alone and ok stays ok") {
  status plain = internal_error("m");
  status placed = plain.in_stage("map");
  CHECK(plain.where().stage.empty());
  CHECK(placed.where().stage == "map");
  CHECK(status().in_stage("map").in_file("x").with_cause(nullptr).ok());
}

TEST_CASE("errno becomes the code a caller can act on, with the system's words") {
  struct row {
    int number;
    status_code code;
  };
  for (auto [number, code] : {row{ENOENT, status_code::not_found}, row{EACCES, status_code::permission_denied},
                              row{EISDIR, status_code::invalid_argument}, row{ENOSPC, status_code::resource_exhausted},
                              row{EIO, status_code::data_loss}, row{ECANCELED, status_code::cancelled},
                              row{ETIMEDOUT, status_code::deadline_exceeded}, row{ENOSYS, status_code::unimplemented},
                              row{EAGAIN, status_code::unavailable}, row{99999, status_code::unknown}}) {
    CAPTURE(number);
    CHECK(errno_error(number, "open").code() == code);
  }
  CHECK(errno_error(ENOENT, "open a").message() == "open a: No such file or directory");
}

TEST_CASE("a result holds a value or the reason why not") {
  result<int> good = 4;
  result<int> bad = not_found_error("no number");
  CHECK(good.ok());
  CHECK(*good == 4);
  CHECK(good.why().ok());
  CHECK_FALSE(static_cast<bool>(bad));
  CHECK(bad.why().code() == status_code::not_found);
  CHECK(good.value() == 4);
}

TEST_CASE("a result made from an ok status is an internal error, not an empty success") {
  result<int> r = status();
  CHECK_FALSE(r.ok());
  CHECK(r.why().code() == status_code::internal);
}

TEST_CASE("a move-only value can be moved out of a result") {
  result<std::unique_ptr<int>> r = std::make_unique<int>(3);
  std::unique_ptr<int> taken = *std::move(r);
  CHECK(*taken == 3);
}

TEST_CASE("value of a failed result throws an error with the status and its provenance") {
  result<int> r = data_loss_error("torn").in_file("f", 12);
  try {
    r.value();
    FAIL("nothing was thrown");
  } catch (const error& e) {
    CHECK(e.code() == status_code::data_loss);
    CHECK(e.why().where().offset_bytes == 12);
    CHECK(std::string(e.what()) == "data_loss: f at byte 12: torn");
  }
}

TEST_CASE("an exception of ours keeps its status on the way back") {
  status s = status_of([] { throw error(not_found_error("gone").in_file("f")); });
  CHECK(s.code() == status_code::not_found);
  CHECK(s.where().file == "f");
}

TEST_CASE("foreign exceptions become unknown and keep their cause") {
  status s = status_of([] { throw std::runtime_error("from the user"); });
  CHECK(s.code() == status_code::unknown);
  CHECK(s.message() == "from the user");
  CHECK_THROWS_WITH(std::rethrow_exception(s.cause()), "from the user");
  status no_memory = status_of([] { throw std::bad_alloc(); });
  CHECK(no_memory.to_string() == "resource_exhausted: out of memory");
  CHECK(no_memory.in_stage("map").to_string() == "resource_exhausted: map: out of memory");
  status odd = status_of([] { throw 7; });
  CHECK(odd.code() == status_code::unknown);
  CHECK(odd.cause() != nullptr);
}

TEST_CASE("throw_status gives a bare foreign exception back as it was, and a placed one as an error") {
  status bare = status_of([] { throw std::out_of_range("index"); });
  CHECK_THROWS_AS(throw_status(bare), std::out_of_range);
  CHECK_THROWS_AS(throw_status(bare.in_stage("map(f)")), error);
}

TEST_CASE("a status goes to Abseil and back with its code and its words") {
  for (int i = 1; i <= 16; ++i) {
    CAPTURE(i);
    status s(static_cast<status_code>(i), "m");
    absl::Status there = to_absl(s);
    CHECK(there.raw_code() == i);
    CHECK(from_absl(there).code() == s.code());
    CHECK(from_absl(there).message() == "m");
  }
  CHECK(to_absl(status()).ok());
  CHECK(from_absl(absl::OkStatus()).ok());
}

TEST_CASE("provenance travels to Abseil inside the message, the code does not appear twice") {
  absl::Status there = to_absl(data_loss_error("torn").in_file("f", 12, 1).in_stage("tfrecord"));
  CHECK(std::string(there.message().data(), there.message().size()) == "tfrecord: f at byte 12, record 1: torn");
}

TEST_CASE("a code that Abseil has and we do not becomes unknown") {
  absl::Status odd(static_cast<absl::StatusCode>(77), "future");
  CHECK(from_absl(odd).code() == status_code::unknown);
}

TEST_CASE("results and StatusOr convert both ways") {
  absl::StatusOr<std::string> text = to_absl(result<std::string>(std::string("a")));
  REQUIRE(text.ok());
  CHECK(*text == "a");
  result<std::string> back = from_absl(std::move(text));
  CHECK(*back == "a");
  absl::StatusOr<int> none = to_absl(result<int>(not_found_error("n")));
  CHECK(none.status().code() == absl::StatusCode::kNotFound);
  result<int> why = from_absl(std::move(none));
  CHECK(why.why().code() == status_code::not_found);
  auto owned = from_absl(absl::StatusOr<std::unique_ptr<int>>(std::make_unique<int>(5)));
  CHECK(**owned == 5);
}

}  // namespace
}  // namespace sluice::lib::status_test
