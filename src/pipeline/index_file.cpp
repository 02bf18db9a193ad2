// SPDX-License-Identifier: Apache-2.0
#include "sluice/pipeline/index_file.hpp"

#include <absl/strings/str_cat.h>

#include <utility>

#include "engine/by_number/built_index.hpp"
#include "pipeline/open_indexing.hpp"
#include "sluice/format/record_index.hpp"

namespace sluice::lib {
namespace {

/// The number of elements skipped in one step, so that a stop is noticed.
constexpr std::uint64_t kIndexedAtOnce = std::uint64_t{1} << 20;

/// Skips all elements.
task<void> pass_all(erased_stream& in) {
  for (;;) {
    demand d;
    d.skip = kIndexedAtOnce;
    d.elements = 1;
    auto got = co_await in.try_next_block(d);
    if (!got.why.ok()) co_await fail(std::move(got.why));
    if (!got.view) co_return;
  }
}

}  // namespace

task<written_index> write_index(runtime& rt, node_ptr reader, index_options o) {
  if (!reader || reader->op->shape != op_info::source || !reader->inputs.empty())
    co_await fail(invalid_argument_error("an index is built for a plan that only reads one file, as tfrecord(\"a\")"));
  auto places = std::make_shared<element_places>(o.every);
  erased_stream in = open_indexing_run(rt, reader, places);
  auto passing = pass_all(in);
  status why = co_await passing.as_result();
  in.close();
  if (!why.ok()) co_await fail(std::move(why));
  if (!places->has_ended())
    co_await fail(unimplemented_error(absl::StrCat(std::string(reader->op->name), " ", kHasNoIndex)));
  const record_index& index = places->index();
  written_index written;
  written.path = absl::StrCat(places->path(), std::string(kIndexSuffix));
  written.elements = index.elements;
  written.places = index.places.size();
  written.file_bytes = index.size_bytes;
  written.plain_bytes = index.plain_bytes;
  written.seek_points = index.points.size();
  auto writing = write_index_of(rt, *places);
  written.size_bytes = co_await writing;
  co_return std::move(written);
}

}  // namespace sluice::lib
