// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "runtime/seen_inputs.hpp"
#include "sluice/base/hash.hpp"

namespace sluice::lib::seen_inputs_test {
using names = std::vector<std::string>;

namespace {

const input_identity kOld{.size_bytes = 100, .modified_ns = 5'000, .inode = 7, .device = 1};

input_identity touched() {
  input_identity i = kOld;
  i.modified_ns += 1;
  return i;
}

/// The table of a run that goes on where `before` was saved.
struct resumed : seen_inputs {
  explicit resumed(const seen_inputs& before, input_rules rules = {}) : seen_inputs(std::move(rules)) {
    REQUIRE(restore(before.bytes()));
  }
};

input_identity with(void (*change)(input_identity&)) {
  input_identity i = kOld;
  change(i);
  return i;
}
const input_identity kCopied = with([](input_identity& i) { i.inode = 8, i.device = 2; });  // cp -p
const input_identity kOtherDevice = with([](input_identity& i) { i.device = 2; });

/// A table of the format before version 5, with one file in one state.
std::string old_table(std::string_view path, const input_identity& i) {
  auto digest = [](std::uint64_t value) { return static_cast<std::uint32_t>(mix(value)) & 0xffffff; };
  position_writer w;
  const std::uint64_t key = stable_hash(path), time = digest(static_cast<std::uint64_t>(i.modified_ns));
  const std::uint64_t place = digest(mix(i.version.empty() ? i.inode : stable_hash(i.version)) ^ i.device);
  w.number(1);
  w.raw(&key, 6);
  w.number(1);
  w.number(i.size_bytes);
  w.raw(&time, 3);
  w.raw(&place, 3);
  return w.bytes();
}

void open_and_close(seen_inputs& table, const std::string& path, std::uint64_t epoch, const input_identity& now) {
  CHECK(table.file_opened(path, epoch, now).ok());
  table.file_closed(path);
}

}  // namespace

TEST_CASE("a file in another state than the saved run saw is reported, with both values and a remedy") {
  struct {
    input_identity now;
    const char* words;
    const char* remedy;
    file_identity identity;
  } changes[] = {
      {with([](input_identity& i) { i.size_bytes = 120; }), "it had 100 bytes then, and has 120 now",
       "--changed-inputs grown", file_identity::size_and_time},
      {with([](input_identity& i) { i.size_bytes = 90; }), "it had 100 bytes then, and has 90 now", "",
       file_identity::size_and_time},
      {touched(), "its time of modification was 1970-01-01T00:00:00.000005000Z, and is 1970-01-01T00:00:00.000005001Z",
       "--identity content", file_identity::size_and_time},
      {kCopied, "its inode and device were 7 and 1, and are 8 and 2", "--identity size+mtime", file_identity::strict},
      {kOtherDevice, "another file in the same place", "--identity size+mtime", file_identity::strict},
      {with([](input_identity& i) { i.version = "\"b\""; }), "its ETag was another one, and is \"b\"",
       "--identity size+mtime", file_identity::etag},
      {with([](input_identity& i) { i.digests = {{100, 6}}; }),
       "the digest of the beginning and the end of its first 100 bytes was 0000000000000005, and is 0000000000000006",
       "", file_identity::content},
  };
  for (auto& c : changes) {
    CAPTURE(c.words);
    input_identity then = kOld;
    if (c.identity == file_identity::etag) then.version = "\"a\"";
    if (c.identity == file_identity::content) then.digests = {{100, 5}};
    seen_inputs first({.identity = c.identity});
    open_and_close(first, "a", 0, then);
    resumed table(first, {.identity = c.identity});
    status why = table.file_opened("a", 0, c.now);
    CHECK(why.code() == status_code::failed_precondition);
    CAPTURE(why.to_string());
    CHECK(why.message().find(c.words) != std::string_view::npos);
    CHECK(why.message().find(c.remedy) != std::string_view::npos);
    CHECK(why.message().find("--changed-inputs ignore") != std::string_view::npos);
    CHECK(table.file_opened("a", 0, c.now).ok());  // whoever goes on goes on with what is there
  }
  seen_inputs first;
  open_and_close(first, "a", 0, kOld);
  resumed table(first);
  CHECK(table.file_opened("a", 0, kOld).ok());
  CHECK(table.file_opened("b", 0, touched()).ok());  // never seen before
}

TEST_CASE("each policy compares its own properties, as far as the checkpoint contains them") {
  const input_identity then = with([](input_identity& i) { i.version = "\"a\"", i.digests = {{100, 5}}; });
  struct change {
    const char* name;
    void (*apply)(input_identity&);
    std::string accepted_by;  ///< s: size+mtime, e: etag, c: content, S: strict
  } changes[] = {
      {"nothing", [](input_identity&) {}, "secS"},
      {"a copy with its time", [](input_identity& i) { i.inode = 9; }, "sec"},
      {"a copy", [](input_identity& i) { i.inode = 9, i.modified_ns = 9; }, "ec"},
      {"a copy of an object", [](input_identity& i) { i.version = "\"b\"", i.modified_ns = 9; }, "c"},
      {"a weak tag", [](input_identity& i) { i.version = "W/\"a\""; }, "secS"},
      {"other bytes", [](input_identity& i) { i.digests = {{100, 6}}; }, "seS"},
      {"all other", [](input_identity& i) { i.modified_ns = 9, i.version = "\"b\"", i.digests = {{100, 6}}; }, ""},
      {"longer", [](input_identity& i) { i.size_bytes = 101; }, ""},
  };
  const std::pair<char, file_identity> policies[] = {{'s', file_identity::size_and_time},
                                                     {'e', file_identity::etag},
                                                     {'c', file_identity::content},
                                                     {'S', file_identity::strict}};
  for (auto& [letter, policy] : policies) {
    seen_inputs first({.identity = policy});
    open_and_close(first, "a", 0, then);
    for (const change& c : changes) {
      input_identity now = then;
      c.apply(now);
      CAPTURE(letter, c.name);
      resumed table(first, {.identity = policy});
      CHECK(table.file_opened("a", 0, now).ok() == (c.accepted_by.find(letter) != std::string::npos));
      // A checkpoint of the run that was accepted has the new state.
      if (c.accepted_by.find(letter) == std::string::npos) continue;
      table.file_closed("a");
      CHECK(resumed(table, {.identity = policy}).file_opened("a", 0, now).ok());
    }
  }
  // The checkpoint has no digest and no inode: what it has is compared.
  seen_inputs plain;
  open_and_close(plain, "a", 0, kOld);
  for (file_identity policy : {file_identity::content, file_identity::strict, file_identity::etag}) {
    input_identity other_place = kCopied;
    other_place.digests = {{100, 5}};
    CHECK(resumed(plain, {.identity = policy}).file_opened("a", 0, other_place).ok());
    CHECK_FALSE(resumed(plain, {.identity = policy}).file_opened("a", 0, touched()).ok());
  }
}

TEST_CASE("the longest prefix of a path chooses its policy, and a scheme the automatic one") {
  input_rules rules{.identity = file_identity::strict,
                    .identities = {{"s3://a/", file_identity::content}, {"s3://a/b", file_identity::automatic}}};
  CHECK(rules.identity_of("x") == file_identity::strict);
  CHECK(rules.identity_of("s3://a/x") == file_identity::content);
  CHECK(rules.identity_of("s3://a/b/x") == file_identity::etag);
  CHECK(input_rules().identity_of("s3://x") == file_identity::etag);
  CHECK(input_rules().identity_of("s3x") == file_identity::size_and_time);
  CHECK(input_rules().identity_of("/x/y") == file_identity::size_and_time);
  CHECK(input_rules().identity_of("hdfs://x/y") == file_identity::size_and_time);
}

TEST_CASE("times are equal if one has lost its fraction of a second") {
  seen_inputs first;
  input_identity now = kOld;
  now.modified_ns = 7'123'456'789;
  open_and_close(first, "a", 0, now);
  now.modified_ns = 7'000'000'000;
  CHECK(resumed(first).file_opened("a", 0, now).ok());
  now.modified_ns = 8'000'000'000;
  CHECK_FALSE(resumed(first).file_opened("a", 0, now).ok());
  now.modified_ns = 7'123'456'788;
  CHECK_FALSE(resumed(first).file_opened("a", 0, now).ok());
}

TEST_CASE("a file that only grows is accepted if it has, and if its digest still fits") {
  for (bool has_digest : {false, true}) {
    const file_identity policy = has_digest ? file_identity::content : file_identity::size_and_time;
    const input_rules rules{.identity = policy, .may_grow = true};
    seen_inputs first({.identity = policy});
    input_identity then = kOld;
    if (has_digest) then.digests = {{100, 5}};
    open_and_close(first, "a", 0, then);
    input_identity longer = with([](input_identity& i) { i.size_bytes = 150, i.modified_ns = 9; });
    resumed table(first, rules);
    if (has_digest) {
      CHECK(table.digest_sizes("a", 150) == std::vector<std::uint64_t>{150, 100});
      longer.digests = {{150, 7}, {100, 6}};
      CHECK_FALSE(resumed(first, rules).file_opened("a", 0, longer).ok());
      longer.digests = {{150, 7}, {100, 5}};
    } else {
      CHECK(table.digest_sizes("a", 150).empty());
    }
    CHECK(table.file_opened("a", 0, longer).ok());
    table.file_closed("a");
    CHECK(resumed(table, {.identity = policy}).file_opened("a", 0, longer).ok());
    CHECK_FALSE(resumed(table, {.identity = policy}).file_opened("a", 0, then).ok());
    input_identity shorter = with([](input_identity& i) { i.size_bytes = 99; });
    status why = resumed(first, rules).file_opened("a", 0, shorter);
    CHECK(why.message().find("a file that only grows has no fewer") != std::string_view::npos);
    input_identity rewritten = touched();
    if (has_digest) rewritten.digests = {{100, 6}};
    CHECK_FALSE(resumed(first, rules).file_opened("a", 0, rewritten).ok());
  }
}

TEST_CASE("files and patterns are found by the names that they had before they moved") {
  seen_inputs first;
  open_and_close(first, "/old/a", 0, kOld);
  open_and_close(first, "/old/b", 0, kOld);
  open_and_close(first, "/older/c", 0, kOld);
  CHECK(first.listed("/old/*", 0, {"/old/a", "/old/b"}).ok());
  const input_rules moved{.rebase = {{"/old", "/new/"}}};
  {
    resumed table(first, moved);
    CHECK_FALSE(table.file_opened("/new/a", 0, touched()).ok());
    CHECK_FALSE(table.listed("/new/*", 0, {"/new/a"}).ok());
    CHECK(table.file_opened("/newer/c", 0, touched()).ok());  // no part of the folder
  }
  resumed table(first, moved);
  CHECK(table.listed("/new/*", 0, {"/new/a", "/new/b"}).ok());
  open_and_close(table, "/new/a", 0, kOld);
  // The next runs know the new paths, and the old ones of files that were not opened since.
  resumed again(table, {});
  CHECK_FALSE(again.file_opened("/new/a", 0, touched()).ok());
  CHECK_FALSE(again.file_opened("/new/b", 0, touched()).ok());
  CHECK(again.listed("/new/*", 0, {"/new/a", "/new/b"}).ok());
  resumed same(table, moved);
  CHECK_FALSE(same.file_opened("/new/b", 0, touched()).ok());
  CHECK(same.bytes().size() <= table.bytes().size() + 10);
  resumed moved_again(table, {.rebase = {{"/new", "here"}}});
  CHECK_FALSE(moved_again.file_opened("here/a", 0, touched()).ok());
  CHECK_FALSE(moved_again.file_opened("here/b", 0, touched()).ok());
  CHECK_FALSE(moved_again.listed("here/*", 0, {"here/b", "here/c"}).ok());
}

TEST_CASE("a path before its moves") {
  const path_rebases moves{{"/a", "/b"}, {"/c/d/", "/b/c/"}, {"rel", "."}, {"s3://x/y", "/z"}, {".", "sub"}};
  struct {
    const char *now, *before;
  } rows[] = {{"/b", "/a"},
              {"/b/x", "/a/x"},
              {"/bx", "/bx"},
              {"/b/c/x", "/c/d/x"},
              {"x", "rel/x"},
              {"sub/x", "x"},
              {"/b/x,/z/*", "/a/x,s3://x/y/*"},
              {"gs://b/x", "gs://b/x"},
              {"/b/*,", "/a/*,"},
              {"/q", "/q"},
              {"", "rel"}};
  for (auto& r : rows) {
    CAPTURE(r.now);
    CHECK(path_before(moves, r.now) == r.before);
  }
  CHECK(path_before({}, "a,b") == "a,b");
  CHECK(path_before({{"/", "/b"}}, "/b/x") == "/x");
  CHECK(path_before({{"/b", "/"}}, "/x") == "/b/x");
}

TEST_CASE("a table of an older checkpoint is compared by its digests") {
  for (bool is_object : {false, true}) {
    input_identity then = kOld;
    if (is_object) then.version = "\"a\"";
    auto table_with = [&](file_identity policy) {
      auto table = std::make_unique<seen_inputs>(input_rules{.identity = policy, .rebase = {{"old", "new"}}});
      REQUIRE(table->restore(old_table("old/a", then)));
      return table;
    };
    input_identity time = then, place = then, size = then;
    time.modified_ns = 9;
    if (is_object) place.version = "\"b\"";
    else place.inode = 9;
    size.size_bytes = 101;
    for (file_identity policy :
         {file_identity::size_and_time, file_identity::etag, file_identity::content, file_identity::strict}) {
      CAPTURE(is_object, name_of(policy));
      const bool by_tag = is_object && policy == file_identity::etag;
      CHECK(table_with(policy)->file_opened("new/a", 0, then).ok());
      CHECK(table_with(policy)->file_opened("new/a", 0, time).ok() == by_tag);
      CHECK(table_with(policy)->file_opened("new/a", 0, place).ok() == !(by_tag || policy == file_identity::strict));
      CHECK_FALSE(table_with(policy)->file_opened("new/a", 0, size).ok());
    }
  }
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

TEST_CASE("a table keeps the open files and the last thousand closed ones, in 18 bytes each") {
  seen_inputs first;
  for (int i = 0; i != 50; ++i) CHECK(first.file_opened("open-" + std::to_string(i), 0, kOld).ok());
  for (int i = 0; i != 3000; ++i) open_and_close(first, "closed-" + std::to_string(i), 0, kOld);
  std::string bytes = first.bytes();
  CHECK(bytes.size() < (1000 + 50) * 18);
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
