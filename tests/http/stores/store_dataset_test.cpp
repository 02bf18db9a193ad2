// SPDX-License-Identifier: Apache-2.0
// Pipelines over stores of objects, in virtual time: what is read ahead is one version, is checked as a
// whole, and what a listing has told of is opened at once.
#include <catch2/catch.hpp>

#if SLUICE_HAVE_STORES
#include "http/stores/simulated_gcs.hpp"
#include "http/stores/store_world.hpp"
#include "http/text_objects.hpp"
#include "io/gcs/gcs_store.hpp"
#include "pipeline/outcome.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::store_dataset_test {
using namespace sluice::lib::testing;

namespace {

struct gcs_files : store_world {
  gcs_files() {
    server.answers([this](const asked_for& a) { return gcs.answer(a); });
    home.variables = {{"HOME", "/home"}, {"STORAGE_EMULATOR_HOST", "s3.test:80"}};
    store = std::make_shared<detail::gcs_store>(world, lend(), gcs_options(), 7, home.around());
    add_files(rt, "gs", std::make_unique<detail::store_file_system>(rt, store));
  }
  simulated_gcs gcs{"bucket"};
};

template <class T> outcome run_over(store_world& w, const dataset<T>& ds) {
  outcome o;
  const status served = w.try_run(run_into(w.rt, ds, {}, o));
  INFO(served.to_string());
  CHECK(served.ok());
  return o;
}

}  // namespace

TEST_CASE(
    "a large object of Google's store is read ahead by ranges, and its last byte brings the check of all of them") {
  gcs_files w;
  const texts all = lines_of(0, 30'000, 1000);
  w.gcs.put("large.txt", joined_lines(all));
  const outcome o = run_over(w, lines("gs://bucket/large.txt"));
  INFO(o.why.to_string());
  CHECK(o.why.ok());
  CHECK((o.elements == all));
  CHECK(w.server.log().size() > 4);

  gcs_files broken;
  broken.gcs.put("large.txt", joined_lines(all));
  broken.gcs.wrong_crc = 1;
  const outcome bad = run_over(broken, lines("gs://bucket/large.txt"));
  CHECK(bad.why.code() == status_code::data_loss);
  CHECK_THAT(bad.why.to_string(), Catch::Contains("gs://bucket/large.txt") && Catch::Contains("their crc32c is"));
}

TEST_CASE("files that a listing names are opened without a request of their own") {
  store_world w;
  (void)w.files();
  w.s3.page_keys = 7;
  texts all;
  for (std::size_t f = 0; f != 20; ++f) {
    const texts some = lines_of(f, 20, 1000);
    w.s3.put("train/part-" + std::to_string(100 + f), joined_lines(some));
    all.insert(all.end(), some.begin(), some.end());
  }
  const outcome o = run_over(w, list_files("s3://bucket/train/part-*", {.shuffle = false}) |
                                    interleave([](std::string path) { return lines(path); }, {.cycle_length = 1}));
  INFO(o.why.to_string());
  CHECK(o.why.ok());
  CHECK((o.elements == all));
  CHECK(w.server.log().size() == 3 + 20);
}
#endif

}  // namespace sluice::lib::store_dataset_test
