// SPDX-License-Identifier: Apache-2.0
// The file systems that a runtime's pipelines read from: one for paths without a scheme, and one for each scheme.
//
//   runtime rt;
//   add_files(rt, "s3", std::make_unique<my_object_store>(…));       // s3://bucket/key, from now on
//   auto ds = tfrecord("s3://bucket/train-00.tfrecord");
//
// A path that begins with a scheme and "://" is passed to its file system as a whole: "s3://bucket/key" is requested by
// that name, and errors contain that name. "file:///data/x" is /data/x. Every other path belongs to the local file
// system. Write a local path that looks like one with a scheme as "./a://b".
// Errors: invalid_argument if no file system was added for a scheme; the message lists the known schemes.
// Thread: any. An added file system serves paths that are opened later.
#pragma once

#include <memory>
#include <string>

#include "sluice/io/file_system.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib {

/// The runtime's file system: it passes each path to the file system of its scheme. The local file system is opened at
/// the first request for one of its paths, as the runtime's options and SLUICE_IO determine; in a simulation it is an
/// empty simulated one. Errors, reported by its tasks: the required back end is not available. description() then
/// throws `error`.
file_system& files_of(runtime& rt);
inline file_system& files_of(run_context& run) { return files_of(*run.rt); }

/// The deadline of a file operation that begins now: runtime_options::io_timeout from now.
time_point io_deadline(runtime& rt);
inline time_point io_deadline(run_context& run) { return io_deadline(*run.rt); }

/// Replaces the file system for paths without a scheme, for example by a simulated one. REQUIRES: none of these paths
/// was requested yet.
void set_files(runtime& rt, std::unique_ptr<file_system> files);

/// `scheme`: letters, digits, +, - and ., beginning with a letter; case does not matter. The runtime owns `files`.
/// Errors: throws invalid_argument: not a scheme, or a scheme that exists already ("file" always does).
void add_files(runtime& rt, std::string scheme, std::unique_ptr<file_system> files);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::add_files;
using lib::files_of;
using lib::set_files;

}  // namespace sluice
