// SPDX-License-Identifier: Apache-2.0
#include "sluice/pipeline/index_file.hpp"

#include <absl/strings/str_cat.h>

#include <cstring>
#include <utility>

#include "pipeline/open_indexing.hpp"
#include "sluice/base/buffer.hpp"
#include "sluice/format/record_index.hpp"
#include "sluice/io/files.hpp"

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

task<void> write_bytes(runtime& rt, std::string path, std::string bytes) {
  buffer_ref from(buffer::make(bytes.size()));
  std::memcpy(from->data(), bytes.data(), bytes.size());
  auto creating = files_of(rt).create(std::move(path), io_deadline(rt));
  std::unique_ptr<file_writer> out = co_await creating;
  auto writing = out->write(std::move(from), 0, bytes.size(), io_deadline(rt));
  co_await writing;
  auto committing = out->commit(io_deadline(rt));
  co_await committing;
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
    co_await fail(unimplemented_error(
        absl::StrCat(std::string(reader->op->name), " has no index: only tfrecord, lines, csv and jsonl use one")));
  const record_index& index = places->index();
  auto looking = files_of(rt).stat(places->path(), io_deadline(rt));
  const file_info now = co_await looking;
  if (!index.difference_from(now, index.kind).empty())
    co_await fail(unavailable_error("was written to while its index was built; try again").in_file(places->path()));
  written_index written;
  written.path = absl::StrCat(places->path(), std::string(kIndexSuffix));
  written.elements = index.elements;
  written.step = index.step;
  written.file_bytes = index.size_bytes;
  std::string bytes = index_bytes(index);
  written.size_bytes = bytes.size();
  auto writing = write_bytes(rt, written.path, std::move(bytes));
  co_await writing;
  co_return std::move(written);
}

}  // namespace sluice::lib
