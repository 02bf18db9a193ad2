// SPDX-License-Identifier: Apache-2.0
// The file systems that a runtime's pipelines read from: one for paths as such, and one for each scheme.
//
//   runtime rt;
//   add_files(rt, "s3", std::make_unique<my_object_store>(…));       // s3://bucket/key, from now on
//   auto ds = tfrecord("s3://bucket/train-00.tfrecord");
//
// A path that begins with a scheme and "://" is its file system's, whole: "s3://bucket/key" is asked for by that name, and
// named so by errors. "file:///data/x" is /data/x. Every other path is the local file system's; a local path that looks like a
// scheme's is written "./a://b".
// Errors: a scheme that nobody has added is invalid_argument, which names those there are.
// Thread: any. What is added answers for paths that are opened later.
#pragma once

#include <memory>
#include <string>

#include "sluice/io/file_system.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib {

/// All of the runtime's: each path goes to the file system of its scheme. The local one is opened when it is first asked:
/// what the runtime's options and SLUICE_IO say; over a simulation an empty simulated one.
/// Errors: of its tasks: where a back end was insisted on that cannot be had. description() throws `error` then.
file_system& files_of(runtime& rt);
inline file_system& files_of(run_context& run) { return files_of(*run.rt); }

/// When what is asked of a file now has to be answered: runtime_options::io_timeout from now.
time_point io_deadline(runtime& rt);
inline time_point io_deadline(run_context& run) { return io_deadline(*run.rt); }

/// Puts another one in for paths without a scheme, before the first of them is asked for: a simulated one, say.
void set_files(runtime& rt, std::unique_ptr<file_system> files);

/// `scheme`: letters, digits, +, - and ., a letter first; upper and lower case are the same. The runtime owns `files`.
/// Errors: throws invalid_argument: no scheme, or one that is there already ("file" always is).
void add_files(runtime& rt, std::string scheme, std::unique_ptr<file_system> files);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::add_files;
using lib::files_of;
using lib::set_files;

}  // namespace sluice
