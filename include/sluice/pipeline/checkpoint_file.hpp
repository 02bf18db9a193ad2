// SPDX-License-Identifier: Apache-2.0
// Saves checkpoints to files and loads them. Saving is atomic: after a crash the file has the old contents or the new
// ones.
//
//   status saved = save_checkpoint("train.ckpt", s.position());                       // at any element
//   …
//   result<checkpoint> here = load_checkpoint("train.ckpt");                          // in another process
//   auto s = ds.iterate(rt, {.from = here.value()});
//
// `attached` is for data that must change together with the position: the length of the output, the step of a model. It
// is stored in the same file, so that a crash cannot keep one without the other.
//
// Crash:  a temporary file is written and synchronized, renamed to `path`, and the folder is synchronized. A process
//         that is killed in between leaves `PATH.partial` and `.NAME.lock`, which the next save removes.
// Errors: statuses with the path. Saving: those of the file system; unavailable: another process or thread is saving to
//         the same path. Loading: not_found and others of the file system; data_loss: the file is empty, damaged, or
//         too long for a checkpoint. iterate() checks whether the checkpoint fits the plan.
// Thread: any; both block the calling thread for as long as the disk takes.
// See:    examples/06_checkpoint.cpp
#pragma once

#include <string>
#include <string_view>

#include "sluice/base/result.hpp"
#include "sluice/coro/stream.hpp"

namespace sluice::lib {

/// Returns when the file is durable: it would survive a loss of power.
status save_checkpoint(const std::string& path, const checkpoint& at, std::string_view attached = {});
/// `attached`: if not null, receives the data that were saved with the checkpoint, or an empty text.
result<checkpoint> load_checkpoint(const std::string& path, std::string* attached = nullptr);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::load_checkpoint;
using lib::save_checkpoint;

}  // namespace sluice
