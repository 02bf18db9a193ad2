// SPDX-License-Identifier: Apache-2.0
// Checkpoints as files: saved so that a crash leaves the old one or the new one, and loaded again.
//
//   status saved = save_checkpoint("train.ckpt", s.position());                       // at any element
//   …
//   result<checkpoint> here = load_checkpoint("train.ckpt");                       // in the next life
//   auto s = ds.iterate(rt, {.from = here.value()});
//
// `attached` is what has to change together with the position: how long the output was, a model's step. It is kept in
// the same file, so that no crash can part the two.
//
// Crash:  the file is written beside its name, synchronised, renamed, and its folder synchronised. A process that is killed
//         in between leaves `PATH.partial` and `.NAME.lock`, which the next save removes.
// Errors: status, naming the path. Saving: those of the file system; unavailable: another process or thread saves to the
//         same path right now. After an error the file is the old one or the new one. Loading: not_found and others of the
//         file system; data_loss: the file is empty, damaged, or too long for a checkpoint. Whether the checkpoint fits a
//         plan is found when it is used (iterate).
// Thread: from any; they block for as long as the disk takes.
// See:    examples/06_checkpoint.cpp
#pragma once

#include <string>
#include <string_view>

#include "sluice/base/result.hpp"
#include "sluice/coro/stream.hpp"

namespace sluice::lib {

/// Returns once the checkpoint would survive a power cut.
status save_checkpoint(const std::string& path, const checkpoint& at, std::string_view attached = {});
/// `attached`: gets what was saved with it, if anything.
result<checkpoint> load_checkpoint(const std::string& path, std::string* attached = nullptr);

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::load_checkpoint;
using lib::save_checkpoint;

}  // namespace sluice
