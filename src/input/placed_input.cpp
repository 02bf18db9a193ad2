// SPDX-License-Identifier: Apache-2.0
#include "input/placed_input.hpp"

#include <algorithm>

#include "input/content_digest.hpp"
#include "io/paths/file_router.hpp"
#include "runtime/seen_inputs.hpp"
#include "sluice/coro/stage_counts.hpp"
#include "sluice/io/files.hpp"

namespace sluice::lib {

placed_input::placed_input(std::shared_ptr<run_context> run, site_record& site, const std::string& stage,
                           placed_input_options o)
    : run_(std::move(run)), site_(site), o_(o), memory_(run_, site, stage) {}

void placed_input::close() {
  if (std::exchange(is_noted_, false)) run_->inputs->file_closed(path_);
  ranges_.reset();
  file_.reset();
}

task<void> placed_input::open(std::string path) {
  close();
  path_ = std::move(path);
  open_options how;
  how.deadline = io_deadline(*run_);
  how.cache = o_.cache;
  how.reading = open_options::exact;
  auto opening = files_of(*run_).open(path_, std::move(how));
  std::unique_ptr<file> opened = co_await opening;
  file_ = std::move(opened);
  if (file_->info().is_stream || !file_->info().has_size())
    co_await fail(
        invalid_argument_error("its size is unknown, and its records are found from its end: copy it to a file")
            .in_file(path_));
  auto identifying = identify_file(run_, file_);
  const input_identity now = co_await identifying;
  status changed = run_->inputs->file_opened(path_, o_.epoch, now);
  is_noted_ = true;
  changed = run_->settle_changed_input(changed.in_file(path_));
  if (!changed.ok()) co_await fail(std::move(changed));
  const read_advice advice = file_->advice();
  ranges_.emplace(run_, file_, memory_,
                  read_ahead_options{
                      .ranges_max = advice.in_order ? nullptr : o_.reads_in_flight,
                      .untouched = o_.reads_untouched,
                      .ranges_if_untouched = advice.reads_at_once,
                      .waits_for = detail::is_remote(path_) ? wait_reason::network : wait_reason::disk,
                      .counts = &site_.counts(),
                      .range_bytes = std::max(o_.read_bytes, advice.first_bytes),
                      .range_bytes_max = advice.range_bytes_max,
                      .ahead_at_once = std::max(advice.ahead_at_once, 1u),
                  });
}

task<buffer_ref> placed_input::read(std::uint64_t offset, std::size_t n, read_place where) {
  buffer_ref to;
  status fits = memory_.make_buffer(std::max<std::size_t>(n, 1), to);
  if (!fits.ok()) co_await fail(fits.in_file(path_, offset));
  for (std::size_t got = 0; got != n;) {
    ready_read now = where == ahead ? ranges_->try_read_at(offset + got, to->data() + got, n - got)
                                    : file_->try_read_at(offset + got, to->data() + got, n - got);
    if (!now.why.ok()) co_await fail(now.why.in_file(path_, offset + got));
    got += now.bytes;
    if (got == n) break;
    if (now.bytes != 0) continue;
    std::size_t more = 0;
    if (now.must_wait) {
      buffer_ref into = to;
      if (where == ahead) {
        auto reading = ranges_->read_at(offset + got, std::move(into), got, n - got);
        more = co_await reading;
      } else {
        auto reading = file_->read_at(offset + got, std::move(into), got, n - got, io_deadline(*run_));
        more = co_await reading;
      }
    }
    if (more == 0) {
      status why = data_loss_error("the file has become shorter while it is read");
      co_await fail(why.in_file(path_, offset + got));
    }
    got += more;
  }
  stage_counts::add(site_.counts().rare().read_bytes, n);
  co_return std::move(to);
}

}  // namespace sluice::lib
