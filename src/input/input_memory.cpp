// SPDX-License-Identifier: Apache-2.0
#include "input/input_memory.hpp"

#include <algorithm>
#include <bit>

#include "base/memory/pages.hpp"
#include "runtime/run_task.hpp"
#include "sluice/base/field_types.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/coro/task.hpp"
#include "sluice/format/inflate.hpp"

namespace sluice::lib {
namespace {

/// The bytes by which all windows that consumers wait for may together exceed the budget.
constexpr std::size_t kOverdraftBytes = 32 << 20;
/// The size of a read if memory is short; its bytes are released before the next.
constexpr std::size_t kTightBytesMin = 4 << 10, kTightBytesMax = 16 << 10;
/// A header, and the bytes that an allocation adds to begin at a cache line.
constexpr std::size_t kBesideWindow = 128;
/// The number of windows that share the rest.
constexpr std::size_t kWindowsInOverdraft = 2048;

/// Lets the requests of all files that begin together go out first: populating memory blocks other mappings, and takes
/// cores from the tasks that send.
constexpr std::chrono::milliseconds kRequestsGoOut{8};

task<> while_requests_go_out() { co_await sleep_for(kRequestsGoOut); }

run_task ready_later(std::shared_ptr<run_context>& run, buffer_ref room) {
  buffer_ref mine = std::move(room);
  (void)run;
  auto waiting = while_requests_go_out();
  const status why = co_await waiting.as_result();
  const bool is_wanted = why.ok() && !mine->unshared();
  if (is_wanted) ready_pages(mine->data(), mine->data() + mine->capacity());
}

}  // namespace

input_memory::input_memory(std::shared_ptr<run_context> run, site_record& site, const std::string& stage)
    : run_(std::move(run)),
      windows_(site.line(purpose::read_ahead)),
      inflater_(run_, site.line(purpose::open_file), stage, "one more open compressed file",
                "open fewer at once (lower cycle_length)") {}

std::size_t input_memory::tight_bytes() const {
  const std::size_t most = run_->ledger->budget_bytes() + kOverdraftBytes, used = run_->ledger->used_bytes();
  const std::size_t left = most - std::min(most, used);
  // A window of this size, with its header and the bytes that the allocator adds for alignment, fills a block of a
  // power of two.
  return std::bit_floor(std::clamp(left / kWindowsInOverdraft, kTightBytesMin, kTightBytesMax)) - kBesideWindow;
}

status input_memory::make_buffer(std::size_t bytes, buffer_ref& made) {
  if (is_tight()) trim_stock();
  memory_ledger& ledger = *run_->ledger;
  // Nothing is allocated for a damaged length.
  if (bytes <= ledger.budget_bytes() || bytes - ledger.budget_bytes() <= kOverdraftBytes) {
    buffer_ref fresh(is_tight() && bytes <= kTightBytesMax ? buffer::make_exact(bytes) : buffer::make(bytes));
    const std::size_t charged = fresh->capacity();
    if (ledger.charge_within(charged, kOverdraftBytes, windows_)) {
      fresh->charge(&windows_, charged);
      made = std::move(fresh);
      return {};
    }
  }
  return resource_exhausted_error("a piece of " + std::to_string(bytes) +
                                  " bytes of this file is needed at once, and does not fit into the memory budget of " +
                                  print_byte_size(static_cast<std::int64_t>(ledger.budget_bytes())) +
                                  " beside the held memory (" + ledger.report().to_string() +
                                  "); raise the budget, or hold fewer or smaller elements");
}

bool input_memory::make_buffer_ahead(std::size_t bytes, buffer_ref& made, buffer_ref spare) {
  memory_ledger& ledger = *run_->ledger;
  const bool will_do = spare && spare->unshared() && spare->capacity() >= bytes && spare->capacity() / 2 <= bytes;
  if (will_do && ledger.used_bytes() <= ledger.budget_bytes() / 2) {
    made = std::move(spare);
    return true;
  }
  spare = {};
  if (ledger.used_bytes() + bytes > ledger.budget_bytes() / 2) return false;
  buffer_ref fresh(buffer::make(bytes));
  const std::size_t charged = fresh->capacity();
  if (!ledger.try_charge(charged, windows_)) return false;
  fresh->charge(&windows_, charged);
  made = std::move(fresh);
  return true;
}

void input_memory::make_ready(const buffer_ref& room) {
  if (room->capacity() >= kPagesBytesMin) ready_later(run_, room);
}

status input_memory::hold_inflater(std::size_t bytes) { return inflater_.resize(bytes); }

}  // namespace sluice::lib
