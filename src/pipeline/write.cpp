// SPDX-License-Identifier: Apache-2.0
#include "sluice/pipeline/write.hpp"

#include <filesystem>
#include <memory>
#include <utility>

#include "io/paths/file_router.hpp"
#include "output/data_folder.hpp"
#include "output/file_sink.hpp"
#include "output/member_compressor.hpp"
#include "pipeline/output_checkpoint.hpp"
#include "pipeline/pull.hpp"
#include "sluice/format/inflate.hpp"
#include "sluice/op/load.hpp"

namespace sluice::lib {
namespace {

/// The data of one call of write(), in memory that its task shares.
struct writing {
  node_ptr plan;
  output_options output;
  std::string checkpoint_path;
  checkpoint_times times;
  iterate_options run;

  output_checkpoint saved;
  output_start start;
  std::unique_ptr<file_sink> sink;
};

output_options output_of(std::string path, const write_options& o, const element_type& type) {
  const named_format by_name = format_of_path(path);
  output_options out;
  out.format = o.format;
  if (o.format == output_format::automatic) {
    out.format = by_name.format;
    if (by_name.format == output_format::automatic && !names_data_folder(path))
      throw_status(
          invalid_argument_error("the name does not determine a format: end it with .jsonl, .csv, .tfrecord, .arrow, "
                                 ".parquet, .bagz, .npy or .txt (and .gz or .zst), or set write_options::format")
              .in_file(path));
    if (by_name.format == output_format::tfrecords && !type.text) out.format = output_format::example;
  }
  out.compression = o.compression == compression::automatic ? by_name.compression : o.compression;
  out.path = detail::without_file_scheme(std::move(path));
  const bool is_folder = names_data_folder(out.path);
  if (is_folder && out.format == output_format::automatic) out.format = output_format::arrow;
  if (compresses_buffers(out.format, o.compression)) out.buffers = std::exchange(out.compression, by_name.compression);
  if (status packed = check_output_compression(out.compression); !packed.ok()) throw_status(packed.in_file(out.path));
  if (o.shards < 1) throw_status(invalid_argument_error("shards must be at least 1").in_file(out.path));
  if (o.shard_bytes.value < 0 || (o.shards != 1 && o.shard_bytes.value != 0))
    throw_status(invalid_argument_error("shards and shard_bytes: set one of them").in_file(out.path));
  if (o.checkpoint_elements < 0)
    throw_status(invalid_argument_error("checkpoint_elements must not be negative").in_file(out.path));
  if (o.row_group_bytes.value < 0)
    throw_status(invalid_argument_error("row_group_bytes must not be negative").in_file(out.path));
  out.row_group_bytes = static_cast<std::uint64_t>(o.row_group_bytes.value);
  out.shards = static_cast<std::uint64_t>(o.shards.value);
  out.shard_bytes = static_cast<std::uint64_t>(o.shard_bytes.value);
  status why = place_in_folder(out);
  if (!why.ok()) throw_status(why);
  why = check_output(out.format, type);
  if (why.ok() && is_folder) why = detail::why_not_loadable(out.format, type);
  if (!why.ok()) throw_status(why.in_file(out.path));
  return out;
}

/// Takes the locks, reads the checkpoint if one exists, and opens the files. It blocks.
struct open_call {
  writing* w;
  status operator()() const {
    status why = w->saved.open(w->checkpoint_path);
    if (!why.ok()) return why;
    std::error_code unknown;
    if (w->saved.is_wanted() && std::filesystem::exists(w->checkpoint_path, unknown)) {
      auto from = read_resumed(w->checkpoint_path);
      if (!from.ok()) return from.why();
      w->run.from = from->at;
      w->start = {true, from->output};
    }
    std::uint64_t cut_bytes = 0;
    auto sink = file_sink::open(w->output, *w->plan->type, w->start, cut_bytes);
    if (!sink.ok()) return sink.why();
    w->sink = *std::move(sink);
    return {};
  }
};

/// Renames the checkpoint and the files to their final names, in this order (output_file explains it).
struct end_call {
  writing* w;
  const pull_outcome* out;
  status operator()() const {
    status why;
    if (w->saved.is_wanted()) {
      // After an error of the run, the output has the elements before it, and the position is where to try again.
      if (out->position.empty()) return out->why;
      why = w->saved.save(out->position, *w->sink);
      if (!out->why.ok()) return out->why;
    } else {
      output_place unused;
      if (!out->why.ok()) return out->why;
      why = w->sink->commit(unused);
    }
    return why.ok() ? w->sink->finish(false) : why;
  }
};

task<write_report> write_all_of(runtime& rt, std::shared_ptr<writing> w) {
  blocking<open_call> opening(rt.blocking_calls(), open_call{w.get()});
  status why = co_await opening;
  if (!why.ok()) throw_status(why);
  if (w->sink->has_unsent()) {  // if the sink cannot be written to, report that before reading any input
    auto beginning = w->sink->send();
    co_await beginning;
  }
  pull_counts counts;
  pull_request request;
  request.stream = open_run(rt, w->plan, w->run);
  request.sink = w->sink.get();
  request.counts = &counts;
  request.times = w->times;
  request.blocking_calls = &rt.blocking_calls();
  writing* state = w.get();
  if (w->saved.is_wanted())
    request.save = [state](const std::string& position) { return state->saved.save(position, *state->sink); };
  pull_outcome out = co_await pull(&request);
  if (w->saved.is_wanted() && !out.position.empty()) {
    auto completing = complete_shard(*w->sink);
    co_await completing;
  }
  blocking<end_call> ending(rt.blocking_calls(), end_call{w.get(), &out});
  why = co_await ending;
  if (!why.ok()) throw_status(why);
  if (w->sink->has_unsent()) {
    auto naming = w->sink->send();
    co_await naming;
  }
  write_report report;
  report.elements = static_cast<std::int64_t>(w->sink->elements());
  report.files = static_cast<std::int64_t>(w->sink->files());
  report.bytes = static_cast<std::int64_t>(w->sink->written_bytes());
  report.errors = static_cast<std::int64_t>(out.report.errors);
  co_return report;
}

}  // namespace

task<write_report> write(runtime& rt, const node_ptr& plan, std::string path, const write_options& o,
                         const iterate_options& run) {
  if (!plan) throw_status(invalid_argument_error("write: there is no plan"));
  auto w = std::make_shared<writing>();
  w->plan = plan;
  w->output = output_of(std::move(path), o, *plan->type);
  w->output.rt = &rt;
  w->checkpoint_path = std::string(o.checkpoint);
  status why = check_can_resume(w->output, w->checkpoint_path);
  if (!why.ok()) throw_status(why);
  w->times = {static_cast<std::uint64_t>(o.checkpoint_elements), o.checkpoint_every};
  w->run = run;
  return write_all_of(rt, std::move(w));
}

}  // namespace sluice::lib
