// SPDX-License-Identifier: Apache-2.0
// What programs usually need: tasks and streams, the operators, runs, plans as text and JSON, the runtime.
//
// Not here: the adapter for asio (asio.hpp) and for Abseil's status (base/absl_status.hpp); channel, scope and when_all
// (coro/), for pipelines built by hand; the simulation and its file system (runtime/simulation.hpp, io/simulated_…).
#pragma once

#include "sluice/coro/sleep.hpp"
#include "sluice/engine/register.hpp"
// Operators: written by ./dev operators.
#include "sluice/op/batch.hpp"
#include "sluice/op/concatenate.hpp"
#include "sluice/op/enumerate.hpp"
#include "sluice/op/filter.hpp"
#include "sluice/op/fixed_length.hpp"
#include "sluice/op/flat_map.hpp"
#include "sluice/op/from_arrow.hpp"
#include "sluice/op/from_elements.hpp"
#include "sluice/op/generate.hpp"
#include "sluice/op/group_by_reducer.hpp"
#include "sluice/op/ignore_errors.hpp"
#include "sluice/op/interleave.hpp"
#include "sluice/op/lines.hpp"
#include "sluice/op/list_files.hpp"
#include "sluice/op/map.hpp"
#include "sluice/op/parse_example.hpp"
#include "sluice/op/parse_sequence_example.hpp"
#include "sluice/op/prefetch.hpp"
#include "sluice/op/range.hpp"
#include "sluice/op/reduce.hpp"
#include "sluice/op/repeat.hpp"
#include "sluice/op/scan.hpp"
#include "sluice/op/shuffle.hpp"
#include "sluice/op/skip.hpp"
#include "sluice/op/take.hpp"
#include "sluice/op/tfrecord.hpp"
#include "sluice/op/transform.hpp"
#include "sluice/op/unbatch.hpp"
#include "sluice/op/window.hpp"
#include "sluice/op/zip.hpp"
// End of operators.
#include "sluice/pipeline/checkpoint_file.hpp"
#include "sluice/pipeline/iterate.hpp"
#include "sluice/plan/json.hpp"
#include "sluice/plan/on_error.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/runtime/runtime.hpp"
