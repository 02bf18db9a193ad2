// SPDX-License-Identifier: Apache-2.0
// The events of a trace (sluice/profile/trace.hpp): one log for the process, because workers are shared by its runs.
//
//   if (tracing()) [[unlikely]]
//     trace_slice({&counts, label}, trace_group::block, began, ended, elements);
//
// Each thread records in a buffer of its own. A record is complete when it is added: begin and end, or both ends of an
// arrow. A *turn* is the time from the moment at which an executor resumes a coroutine on a thread to the moment at
// which that call returns. Work that began within the present turn was on this thread all the time, so it is a slice of the
// thread's track. Other work is shown as a span, which belongs to no thread.
// Cost:   without a recording one relaxed load at each place; with one, about 100 ns for each record.
// Thread: any.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/mutex.hpp"
#include "sluice/coro/environment.hpp"
#include "sluice/coro/stage_counts.hpp"

namespace sluice::lib {

class stage_base;

/// The kinds of things that are shown.
enum class trace_group : std::uint8_t {
  turn,     ///< a thread runs coroutines, without a pause
  block,    ///< a stage makes a block, with the time of its inputs
  task,     ///< a task works ahead: it requests a block, or computes one
  put,      ///< a block is put into a channel
  take,     ///< a block is taken from a channel
  fill,     ///< a stage fills its buffer before its first element
  wait,     ///< a stage, a task ahead or the consumer waits
  channel,  ///< a block from its request to the moment at which the reader takes it; a counter of a channel
  memory,   ///< the counter of the ledger
  count,    ///< the number of the groups
};

struct trace_record {
  enum class kind : std::uint8_t { slice, span, counter, arrow };
  kind what = kind::slice;
  trace_group group = trace_group::turn;
  std::uint32_t series = 0;  ///< in trace_buffer::series
  std::uint32_t from = 0;    ///< arrow: the track on which it begins
  std::int64_t begin = 0, end = 0;
  std::uint64_t first = 0,
                second = 0;  ///< elements and the number of blocks that it stands for; the values of a counter
};

/// Distinguishes stages and channels of the same name: `key` is the address of what they have for themselves.
struct trace_series {
  const void* key = nullptr;
  std::string_view name;
};

/// The records of one thread, in the order in which they ended.
struct trace_buffer {
  explicit trace_buffer(std::uint32_t its_track) : track(its_track) {}
  const std::uint32_t track;
  struct named {
    const void* key;
    std::string name;
    trace_group group;
  };
  lib::mutex mutex;
  const char* kind ABSL_GUARDED_BY(mutex) = nullptr;  ///< "worker"; null: a thread of the program
  unsigned number ABSL_GUARDED_BY(mutex) = 0;
  std::vector<trace_record> records ABSL_GUARDED_BY(mutex);
  std::vector<named> series ABSL_GUARDED_BY(mutex);
};

/// Read at each place that could record. Relaxed: a thread that sees a change late only records more or less.
inline std::atomic<bool> trace_is_on{false};
inline bool tracing() noexcept { return trace_is_on.load(std::memory_order_relaxed); }

/// Begins a recording, without the records of the one before. Returns false if one is on. `gap`: the least time between
/// two blocks of a channel that are recorded.
bool trace_start(std::size_t records_max, duration gap);
/// Sets the name of the stage with these counters, in place of its label, which lacks the arguments.
void trace_name(const void* key, const std::string& name) noexcept;
/// Ends the recording; what it has recorded is kept until the next one begins.
void trace_stop() noexcept;
struct trace_contents {
  std::vector<std::shared_ptr<trace_buffer>> buffers;  ///< one for each thread that has recorded
  std::map<const void*, std::string> names;            ///< those of trace_name()
  std::size_t records_max = 0;
  bool is_full = false;      ///< the recording has ended because of records_max
  std::int64_t full_at = 0;  ///< the end of the last record
};
trace_contents trace_read();

// The functions below do nothing without a recording. They are no templates and not inline: no coroutine keeps the
// address of a thread_local variable.

/// The calling thread is number `number` of those of this kind, a constant, and resumes a coroutine.
void trace_begin_turn(const char* kind, unsigned number, time_point now) noexcept;
void trace_end_turn(time_point now) noexcept;
/// Returns the track of this thread; 0 if no recording is on.
std::uint32_t trace_track() noexcept;
/// Work without a suspension, on this thread.
void trace_slice(trace_series s, trace_group g, time_point began, time_point ended, std::uint64_t elements = 0,
                 std::uint64_t weight = 1) noexcept;
/// Work that may have been suspended: a span, and also a slice if it began within this turn.
void trace_span(trace_series s, trace_group g, time_point began, time_point ended, std::uint64_t elements = 0,
                std::uint64_t weight = 1) noexcept;
/// The same, only the slice.
void trace_work(trace_series s, trace_group g, time_point began, time_point ended, std::uint64_t elements) noexcept;
void trace_counter(trace_series s, trace_group g, time_point now, std::uint64_t first, std::uint64_t second) noexcept;
/// An arrow from a slice of the track `from` to the present slice of this thread.
void trace_arrow(trace_series s, std::uint32_t from, time_point began, time_point now) noexcept;
/// A wait that has ended. Shorter ones than 50 µs are not recorded.
void trace_wait(trace_series s, wait_reason why, time_point began, time_point ended) noexcept;
void trace_wait(const stage_base& s, wait_reason why, time_point began, time_point ended) noexcept;
void trace_consumer_wait(const void* run, time_point began, time_point ended) noexcept;
/// Returns true if a channel that has recorded a block at `last` records another one now, and sets `last`.
bool trace_is_due(time_point& last, time_point now) noexcept;

}  // namespace sluice::lib
