// SPDX-License-Identifier: Apache-2.0
// The file system that a runtime's pipelines read from.
#pragma once

#include <memory>

#include "sluice/io/file_system.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib {

/// The runtime's own, opened when it is first asked for: what its options and SLUICE_IO say; over a
/// simulation an empty simulated one.
/// Errors: throws `error` where a back end was insisted on that cannot be had.
file_system& files_of(runtime& rt);
inline file_system& files_of(run_context& run) { return files_of(*run.rt); }
/// Puts another one in, before the first use: a simulated one. The runtime owns it.
void set_files(runtime& rt, std::unique_ptr<file_system> files);

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::files_of;
using lib::set_files;

}  // namespace sluice
