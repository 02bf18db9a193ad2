// SPDX-License-Identifier: Apache-2.0
// snapshot: writes its input to a folder in the first run, and reads the folder in later runs.
//
//   records | map(parse) | snapshot("parsed/")                               // plan text: snapshot("parsed/")
//   records | map(parse) | snapshot("parsed/", [](const sample& s) { return s.label; }, {.shards = 10})
//   // csv("a.csv", header=true) | snapshot("rows/", shard_func=hash(city) % 8, shards=8, reader_func="interleave(read)")
//
// The folder has Arrow files, compressed by zstd, and a manifest (docs/outputs.md), so load() reads it, too. Unlike a cache, a
// snapshot is whole or absent: a run that ends before its input leaves nothing that a later run reads, and a later one
// writes it again.
//
// With shard_func, an element is in the file that its function names; otherwise the elements are in the files alternately.
// reader_func is the text of the stages that the paths of the files run through; `read` in it is the reader of one file. If
// it is missing, the elements come in the order in which they were written; with shard_func, one file after the other.
// Order:  the input's in the run that writes. A later run has the same order without shard_func and reader_func. Draws
//         upstream are frozen: every epoch and run has the elements of the first one.
// Ends:   with the input.
// Errors: failed_precondition: the folder has the elements of another plan, seed or error policy, its functions have other
//         versions, or the files that the plan names have changed; on_mismatch=rebuild writes it again. A run that reads
//         resumes, and the folder has been written again since. unavailable: with other_writer=fail, another process writes
//         the folder. data_loss: a file of the snapshot is damaged. invalid_argument, when the plan is made: the elements have
//         no form in Arrow, or reader_func is no text of stages; in the run: shard_func returns no number of a file.
// Paths:  a local folder. One process writes it at a time, under a lock that ends with the process. Functions upstream must
//         have names (fn), so that a change of their version is noticed.
// State:  that of the input, or of the plan that reads the folder. A run that resumes while it computes does not write.
// See:    cache, load
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "sluice/base/field_types.hpp"
#include "sluice/base/other_writer.hpp"
#include "sluice/engine/detail/element_functions.hpp"
#include "sluice/engine/keys.hpp"
#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info snapshot_op;

/// The reaction to a snapshot of another plan.
enum class snapshot_mismatch : std::uint8_t {
  fail,     ///< the stream ends with an error that names the difference
  rebuild,  ///< the snapshot is written again
};
/// A function of an element that returns a whole number; null: not given.
struct shard_function : function_value {};

struct snapshot_options {
  shard_function shard_func = {};  ///< returns the number of an element's file; not given: alternately
  count_up_to<4096> shards = 1;    ///< number of files
  std::string reader_func = {};    ///< stages over the paths of the files; "": in the order of writing
  lib::compression compression = lib::compression::zstd;  ///< of the buffers in the files: zstd, lz4 or none
  snapshot_mismatch on_mismatch = snapshot_mismatch::fail;
  lib::other_writer other_writer = lib::other_writer::compute;  ///< while another process writes the folder
};
struct snapshot_arguments {
  required_text path = {};  ///< the folder
  snapshot_options options = {};
};

preserving snapshot(std::string path, snapshot_options o = {});

template <class F> class snapshot_verb : public stage_base_tag {
 public:
  snapshot_verb(std::string path, F shard_func, snapshot_options o)
      : path_(std::move(path)), shard_func_(std::move(shard_func)), options_(std::move(o)) {}
  template <class T> auto apply(const dataset<T>& in) const {
    if constexpr (detail::keys<F, T>) {
      snapshot_arguments a{path_, options_};
      a.options.shard_func.value = detail::adopt(new detail::keyed_function<T, F>(shard_func_));
      return dataset<T>(snapshot_op, arguments::of(std::move(a)), in.plan());
    } else {
      static_assert(detail::element_is<T>::template taken_by<F>,
                    "snapshot: shard_func must take const T& and return a whole number");
      return dataset<refused>();
    }
  }

 private:
  std::string path_;
  F shard_func_;
  snapshot_options options_;
};
template <class F>
  requires(!std::is_convertible_v<F, snapshot_options>)
snapshot_verb<F> snapshot(std::string path, F shard_func, snapshot_options o = {}) {
  return {std::move(path), std::move(shard_func), std::move(o)};
}

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::snapshot;
using lib::snapshot_mismatch;
using lib::snapshot_options;

}  // namespace sluice
