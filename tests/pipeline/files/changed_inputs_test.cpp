// SPDX-License-Identifier: Apache-2.0
// Inputs that changed between a checkpoint and its resume: noticed wherever the position stands, and what then.
#include <catch2/catch.hpp>

#include "pipeline/file_world.hpp"
#include "pipeline/input_files.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib::changed_inputs_test {
namespace {

using namespace testing;
using Catch::Contains;

void put_parts(file_world& w, int n) {
  for (const std::string& name : names(n)) w.files->put(name, file_of(20, 10));
}

outcome resumed(file_world& w, const dataset<std::string>& ds, const checkpoint& from,
                changed_inputs policy = changed_inputs::refuse) {
  iterate_options o;
  o.from = from;
  o.on_changed_inputs = policy;
  return run(w.rt, ds, o);
}
texts rest_of(const outcome& whole, std::size_t place) {
  return {whole.elements.begin() + static_cast<std::ptrdiff_t>(place), whole.elements.end()};
}

dataset<std::string> parsed(const dataset<record>& ds) { return ds | map(text_of); }

/// Shapes in which a mark below a channel, a shuffle or a repeat is older than the listing.
std::vector<dataset<std::string>> listing_shapes() {
  auto parts = list_files("part-*");
  return {
      parts | repeat(2) | shuffle(2, {.seed = 7}),
      parts | shuffle(2, {.seed = 7}) | repeat(2),
      parts | repeat(2) | batch(2) | unbatch(),
      parts | repeat(2) | prefetch(3),
      parsed(parts | interleave(tfrecord, {.cycle_length = 2}) | repeat(2) | shuffle(5, {.seed = 7})) | batch(3) |
          unbatch(),
      parsed(parts | interleave(tfrecord, {.cycle_length = 2, .parallelism = 2}) | repeat(2)) | prefetch(2),
      parsed(parts | flat_map(tfrecord) | repeat(2) | prefetch(4)),
      parsed(parts | flat_map(tfrecord)) | map([](const std::string& s) { return s; }, {.parallelism = 2}),
  };
}

}  // namespace

TEST_CASE("a resume over another list of files is refused at every place, for any stages after the listing") {
  for (const auto& ds : listing_shapes()) {
    file_world w;
    put_parts(w, 4);
    outcome whole = run(w.rt, ds);
    REQUIRE(whole.why.ok());
    std::size_t step = whole.elements.size() > 20 ? 13 : 1;
    for (std::size_t place = 0; place < whole.places.size(); place += step) {
      CAPTURE(plan_text(*ds.plan()), place);
      CHECK((resumed(w, ds, whole.places[place]).elements == rest_of(whole, place)));
    }
    w.files->put("part-9", file_of(20, 10));
    for (std::size_t place = 1; place < whole.elements.size();
         place += step) {  // at 0 nothing is known, at the end nothing needed
      outcome got = resumed(w, ds, whole.places[place]);
      CAPTURE(plan_text(*ds.plan()), place, got.message());
      CHECK(got.elements.empty());
      CHECK(got.why.code() == status_code::failed_precondition);
      CHECK(got.why.where().stage == "list_files");
      CHECK_THAT(got.message(), Contains("not those the checkpoint was made with: there were 4, and there are 5"));
    }
  }
}

TEST_CASE("a resume over a changed file is refused, for every change, format and way of reading") {
  texts elements = some_elements(300);
  for (file_format f : kFormats)
    for (compression c : kCompressions)
      for_each_way(f, "a", [&](const std::string& how, const dataset<std::string>& ds) {
        std::string bytes = file_bytes(f, c, elements);
        texts other = elements;
        other.insert(other.begin(), std::string(kElementBytes, 'x'));
        for (int change : {0, 1, 2, 3}) {
          file_world w;
          w.files->put("a", bytes);
          outcome whole = run(w.rt, ds);
          REQUIRE((whole.elements == elements));
          CHECK((resumed(w, ds, whole.places[100]).elements == rest_of(whole, 100)));
          if (change == 0) w.files->put("a", file_bytes(f, c, other));
          if (change == 1) w.files->put("a", bytes);  // replaced by its equal, which is younger
          if (change == 2) w.files->append("a", "");  // touched
          if (change == 3) w.files->cut("a", bytes.size() / 2);
          outcome got = resumed(w, ds, whole.places[100]);
          CAPTURE(name_of(f), to_string(c), how, change, got.message());
          CHECK(got.elements.empty());
          CHECK(got.why.code() == status_code::failed_precondition);
          CHECK(got.why.where().file == "a");
          CHECK(got.why.where().stage == name_of(f));
          CHECK_THAT(got.message(), Contains("is not what the checkpoint was made with"));
          CHECK_THAT(got.message(), Contains(change == 0   ? "bytes then, and has"
                                             : change == 1 ? "was written to since"
                                             : change == 2 ? "was written to since"
                                                           : "bytes then, and has"));
          // Skipping bad elements does not pass over it.
          iterate_options skipping;
          skipping.from = whole.places[100];
          skipping.on_error = error_policy::skip;
          CHECK(run(w.rt, ds, skipping).why.code() == status_code::failed_precondition);
        }
      });
}

TEST_CASE("under warn a changed input is counted and reported once, under ignore it is not") {
  file_world w;
  w.files->put("a", "one\ntwo\nthree\nfour\n");
  auto ds = lines("a") | map([](const line& l) { return std::string(l.view()); });
  outcome whole = run(w.rt, ds);
  w.files->put("a", "one\ntwo\nTHREE\nfour\nfive\n");
  texts rest = {"THREE", "four", "five"};
  outcome warned = resumed(w, ds, whole.places[2], changed_inputs::warn);
  CHECK(warned.elements == rest);
  CHECK(warned.report.inputs_changed == 1);
  REQUIRE(warned.report.first_changed_inputs.size() == 1);
  CHECK_THAT(warned.report.first_changed_inputs[0].to_string(),
             Contains("a: is not what the checkpoint was made with: it had 19 bytes then, and has 24 now"));
  outcome ignored = resumed(w, ds, whole.places[2], changed_inputs::ignore);
  CHECK(ignored.elements == rest);
  CHECK(ignored.report.inputs_changed == 0);
  // A checkpoint of the run that went on knows the new file.
  CHECK(resumed(w, ds, ignored.places[1]).elements == texts{"four", "five"});
}

TEST_CASE("a position that no longer begins a line is an error even where changes are ignored") {
  file_world w;
  w.files->put("a", "one\ntwo\nthree\nfour");
  auto ds = lines("a") | map([](const line& l) { return std::string(l.view()); });
  outcome whole = run(w.rt, ds);
  REQUIRE(whole.elements.size() == 4);
  CHECK(resumed(w, ds, whole.places[4]).why.ok());  // the end of a last line without its end
  w.files->put("a", "one\ninserted\ntwo\nthree\nfour");
  outcome got = resumed(w, ds, whole.places[2], changed_inputs::ignore);
  CAPTURE(got.message());
  CHECK(got.elements.empty());
  CHECK(got.why.code() == status_code::data_loss);
  CHECK_THAT(got.message(), Contains("no element begins where the checkpoint says"));
}

TEST_CASE("a run that read a file in two states resumes with the second") {
  file_world w;
  auto number = [](const line& l) { return std::string(l.view()); };
  auto ds = lines("a") | map(number) | repeat(3);
  w.files->put("a", "1\n2\n");
  outcome whole;
  auto reading = [](runtime& rt, dataset<std::string> of, simulated_file_system* files, outcome& o) -> task<void> {
    stream<std::string> s = of.iterate(rt);
    for (;;) {
      o.places.push_back(s.position());
      if (o.elements.size() == 2) files->put("a", "3\n4\n5\n");
      auto x = co_await s.try_next();
      if (!x) break;
      o.elements.push_back(*x);
    }
  };
  sync_wait(w.rt, reading(w.rt, ds, w.files, whole));
  REQUIRE(whole.elements == texts{"1", "2", "3", "4", "5", "3", "4", "5"});
  std::size_t gone_on = 0;
  for (std::size_t place = 3; place != whole.places.size(); ++place) {
    outcome got = resumed(w, ds, whole.places[place]);
    CAPTURE(place, got.message());
    if (got.why.ok()) {
      ++gone_on;
      CHECK(got.elements == rest_of(whole, place));
    } else {  // a position may go back to a mark in the file that is gone
      CHECK(got.elements.empty());
      CHECK(got.why.code() == status_code::failed_precondition);
    }
  }
  CHECK(gone_on >= 4);
  outcome gone = resumed(w, ds, whole.places[1]);
  CHECK(gone.elements.empty());
  CHECK(gone.why.code() == status_code::failed_precondition);
}

TEST_CASE("a stream is read in every format and way, and has no positions") {
  texts elements = some_elements(3000);
  for (file_format f : kFormats)
    for (compression c : kCompressions)
      for (std::uint64_t seed : {1u, 2u})
        for_each_way(f, "a", [&](const std::string& how, const dataset<std::string>& ds) {
          CAPTURE(name_of(f), to_string(c), how, seed);
          file_world w(seed);
          w.files->put_stream("a", file_bytes(f, c, elements));
          outcome got = run_changing(w.rt, ds, elements.size() + 1, [] {});
          CAPTURE(got.message());
          CHECK(got.why.ok());
          CHECK((got.elements == elements));
          outcome saved;
          CHECK_THROWS_WITH(sync_wait(w.rt, run_into(w.rt, ds, {}, saved)), Contains("cannot be read again"));
          CHECK(saved.places.size() == 1);  // before it was opened
          CHECK(resumed(w, ds, saved.places[0]).why.code() ==
                status_code::failed_precondition);  // by its own positions
        });
}

}  // namespace sluice::lib::changed_inputs_test
