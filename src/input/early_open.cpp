// SPDX-License-Identifier: Apache-2.0
#include "input/early_open.hpp"

#include <algorithm>
#include <utility>

#include "input/input_memory.hpp"
#include "io/paths/file_router.hpp"
#include "runtime/run_task.hpp"

namespace sluice::lib {
namespace {

/// Opens the file and reads its beginning. The reader reports failures.
task<> open_and_read(std::shared_ptr<run_context> run, std::string path, std::string stage, early_options o,
                     std::shared_ptr<early_opened> to) {
  input_memory memory(run, *o.site, stage);
  open_options how;
  how.known = run->known->take(path);
  if (how.known && (how.known->is_stream || how.known->size_bytes == 0)) how.known.reset();  // as byte_source::open
  const bool is_believed = how.known.has_value();
  how.deadline = io_deadline(*run);
  how.cache = o.cache;
  if (o.head_bytes != 0 && memory.make_buffer_ahead(o.head_bytes, to->head, {})) {
    how.head = to->head;
    how.head_bytes = o.head_bytes;
  }
  auto opening = files_of(*run).open(path, std::move(how));
  std::shared_ptr<file> from = co_await opening;
  if (from->info().is_stream) {  // only its reader may read it; closing it would end its writer
    to->head = {};
    to->from = std::move(from);
    co_return;
  }
  const read_advice advice = from->advice();
  const std::uint64_t wanted = std::max(o.read_bytes, advice.first_bytes);
  const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(wanted, from->size_bytes()));
  to->head_bytes = from->head_bytes();
  if (to->head && to->head->capacity() < n && to->head_bytes == 0) to->head = {};
  if (n != 0 && (to->head || memory.make_buffer_ahead(n, to->head, {}))) {
    const std::size_t most = std::min(n, to->head->capacity());
    if (to->head_bytes < most) {
      buffer_ref share = to->head;
      auto reading =
          from->read_at(to->head_bytes, std::move(share), to->head_bytes, most - to->head_bytes, io_deadline(*run));
      const std::size_t more = co_await reading;
      to->head_bytes += more;
    }
  }
  if (is_believed && to->head_bytes == 0) co_return;  // only a read shows if the file is still the listed one
  to->from = std::move(from);
}

run_task run_early(std::shared_ptr<run_context>& run, std::string path, std::string stage, early_options o,
                   std::shared_ptr<early_opened> to) {
  auto mine = std::move(to);
  auto name = std::move(path);
  auto reader = std::move(stage);
  auto work = open_and_read(run, std::move(name), std::move(reader), o, mine);
  status why = co_await work.as_result();
  if (!why.ok()) mine->head = {};
  mine->done.store(true, std::memory_order_release);
  std::shared_ptr<ready_signal> ended = mine->ended();
  mine->will_end_by(nullptr);
  ended->notify(ready_signal::kNobody);
}

}  // namespace

task<std::shared_ptr<early_opened>> take_early(std::shared_ptr<run_context> run, std::string path, page_cache cache) {
  auto early = std::static_pointer_cast<early_opened>(run->known->take_early(path));
  if (!early) co_return nullptr;
  if (std::shared_ptr<ready_signal> ended = early->ended()) {
    const std::uint64_t seen = ended->count();
    if (!early->done.load(std::memory_order_acquire)) {
      early->waited = true;
      co_await ended->changed_since(seen, detail::is_remote(path) ? wait_reason::network : wait_reason::disk);
    }
  }
  if (!early->from || early->cache != cache) co_return nullptr;
  co_return early;
}

void open_coming(std::shared_ptr<run_context> run, const std::string& path, const std::string& stage, early_options o,
                 bool waited) {
  known_files& known = *run->known;
  for (std::string& next : known.coming_behind(path, waited)) {
    auto made = std::make_shared<early_opened>();
    made->will_end_by(std::make_shared<ready_signal>(run));
    made->cache = o.cache;
    if (!known.put_early(next, made)) return;
    run_early(run, std::move(next), stage, o, std::move(made));
  }
}

}  // namespace sluice::lib
