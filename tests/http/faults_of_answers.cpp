// SPDX-License-Identifier: Apache-2.0
#if SLUICE_HAVE_TLS
#include "http/faults_of_answers.hpp"

namespace sluice::lib::testing {
namespace {

using namespace std::chrono_literals;

/// Beyond the first bytes, within the smallest answer.
constexpr std::int64_t kMiddle = 50'000;
constexpr std::int64_t kFourMiB = 4 << 20;

std::vector<suffering> lost_connections() {
  std::vector<suffering> all;
  all.push_back({.name = "reset before the head", .faults = {{.reset_before_head = true}}});
  all.push_back({.name = "end before the head", .faults = {{.end_before_head = true}}});
  for (std::int64_t at : {std::int64_t{0}, std::int64_t{1}, kMiddle, std::int64_t{-1}}) {
    const std::string where = at == -1 ? "the last byte" : "byte " + std::to_string(at);
    all.push_back({.name = "reset at " + where, .faults = {{.reset_at = at}}});
    all.push_back({.name = "end at " + where, .faults = {{.end_at = at}}});
  }
  all.push_back({.name = "two lost in a row", .faults = {{.reset_at = 1}, {.reset_before_head = true}}});
  all.push_back({.name = "every answer ends after 4 MiB", .faults = {{.end_at = kFourMiB}}, .continues = true});
  all.push_back({.name = "every answer is lost at byte 100",
                 .faults = {{.reset_at = 100}},
                 .continues = true,
                 .small = status_code::unavailable,
                 .large = status_code::unavailable,
                 .words = "the last attempt"});
  all.push_back({.name = "every request is lost",
                 .faults = {{.reset_before_head = true}},
                 .continues = true,
                 .small = status_code::unavailable,
                 .large = status_code::unavailable,
                 .words = "the last attempt",
                 .tells_number = false});
  return all;
}

std::vector<suffering> slow_servers() {
  std::vector<suffering> all;
  all.push_back({.name = "stall before the head", .faults = {{.stall_before_head = true}}, .needs_patience = true});
  all.push_back({.name = "stall in the middle", .faults = {{.stall_at = kMiddle}}, .needs_patience = true});
  all.push_back({.name = "every answer stalls",
                 .faults = {{.stall_at = 10}},
                 .continues = true,
                 .small = status_code::unavailable,
                 .large = status_code::unavailable,
                 .words = "the server has stalled",
                 .needs_patience = true});
  all.push_back({.name = "head after 100 ms", .faults = {{.late = 100ms}}, .takes = 100ms});
  all.push_back({.name = "by the byte", .faults = {{.by_the_byte = 3000}}});
  return all;
}

std::vector<suffering> refusals() {
  std::vector<suffering> all;
  all.push_back({.name = "503", .faults = {{.code = 503}}});
  all.push_back(
      {.name = "503, Retry-After: 1", .faults = {{.code = 503, .fields = "Retry-After: 1\r\n"}}, .takes = 1000ms});
  all.push_back({.name = "429, Retry-After: 0", .faults = {{.code = 429, .fields = "Retry-After: 0\r\n"}}});
  all.push_back({.name = "503 for ever",
                 .faults = {{.code = 503}},
                 .continues = true,
                 .small = status_code::unavailable,
                 .large = status_code::unavailable,
                 .words = "the server says 503 Made Up"});
  all.push_back({.name = "403",
                 .faults = {{.code = 403}},
                 .continues = true,
                 .small = status_code::permission_denied,
                 .large = status_code::permission_denied,
                 .words = "the server says 403 Made Up"});
  return all;
}

/// Answers that break the rules. Always, as what comes first on a connection that was used before may be left over from what came
/// before.
std::vector<suffering> contradictions() {
  std::vector<suffering> all;
  auto wrong = [&all](std::string name, fault f, std::string words) {
    all.push_back({.name = std::move(name),
                   .faults = {f},
                   .continues = true,
                   .small = status_code::data_loss,
                   .large = status_code::data_loss,
                   .words = std::move(words)});
  };
  wrong("no Content-Range", {.instead_of = "Content-Range"}, "does not name its range");
  wrong("another Content-Range", {.fields = "Content-Range: bytes 1-98304/41943040\r\n", .instead_of = "Content-Range"},
        "another range");
  wrong("two Content-Range", {.fields = "Content-Range: bytes 0-0/1\r\n"}, "differ");
  wrong("two ETag", {.fields = "ETag: \"other\"\r\n"}, "differ");
  wrong("two Content-Length", {.fields = "Content-Length: 5\r\n"}, "no HTTP/1.1");
  wrong("a length that is longer", {.says_more = 100}, "the body has");
  wrong("a length that is shorter", {.says_more = -100}, "the body has");
  wrong("encoded", {.fields = "Content-Encoding: gzip\r\n"}, "encoded as gzip");
  all.push_back({.name = "bytes behind the body", .faults = {{.bytes_behind = 100}}, .continues = true});
  all.push_back(
      {.name = "200 for the first range", .faults = {{.forgets_range = true}}, .later = {{.forgets_range = true}}});
  all.push_back({.name = "200 for a later range",
                 .faults = {{.reset_at = kMiddle}, {.forgets_range = true}},
                 .later = {{}, {.forgets_range = true}},
                 .small = status_code::unimplemented,
                 .large = status_code::unimplemented,
                 .words = "answers a range with the whole object"});
  const fault other{.fields = "ETag: \"other\"\r\n", .instead_of = "ETag"};
  all.push_back({.name = "another ETag between ranges",
                 .faults = {{.reset_at = kMiddle}, other},
                 .later = {{}, other},
                 .small = status_code::failed_precondition,
                 .large = status_code::failed_precondition,
                 .words = "the object has changed since it was opened"});
  all.push_back({.name = "412 between ranges",
                 .faults = {{.reset_at = kMiddle}, {.code = 412}},
                 .later = {{}, {.code = 412}},
                 .small = status_code::failed_precondition,
                 .large = status_code::failed_precondition,
                 .words = "the object has changed since it was opened"});
  return all;
}

std::vector<suffering> handshakes() {
  std::vector<suffering> all;
  all.push_back({.name = "handshake by the byte", .handshakes = {handshake::by_the_byte}, .handshakes_go_on = true});
  all.push_back({.name = "handshake is reset", .handshakes = {handshake::resets}});
  all.push_back({.name = "handshake is ended", .handshakes = {handshake::ends}});
  all.push_back({.name = "handshake stalls", .needs_patience = true, .handshakes = {handshake::stalls}});
  all.push_back({.name = "every handshake is reset",
                 .small = status_code::unavailable,
                 .large = status_code::unavailable,
                 .words = "the last attempt",
                 .tells_number = false,
                 .handshakes = {handshake::resets},
                 .handshakes_go_on = true});
  return all;
}

}  // namespace

const std::vector<suffering>& all_sufferings() {
  static const std::vector<suffering> all = [] {
    std::vector<suffering> made{{.name = "none"}};
    for (auto part : {lost_connections(), slow_servers(), refusals(), contradictions(), handshakes()})
      made.insert(made.end(), part.begin(), part.end());
    return made;
  }();
  return all;
}

}  // namespace sluice::lib::testing
#endif
