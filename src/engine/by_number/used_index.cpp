// SPDX-License-Identifier: Apache-2.0
#include "engine/by_number/used_index.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "sluice/io/read_file.hpp"

namespace sluice::lib {
namespace {

/// The index of a file of 10 TB has this size.
constexpr std::size_t kIndexBytesMax = std::size_t{1} << 30;

}  // namespace

used_index::used_index(std::shared_ptr<run_context> run, byte_source& source, const element_format& format,
                       file_index use, const error_gate& gate)
    : run_(std::move(run)),
      source_(source),
      kind_(kind_in(format.index_kind(), source.compressed() ? source.compressed_by() : compression::none)),
      is_required_(use == file_index::required),
      memory_(run_, gate.line(purpose::open_file), gate.label(), "the index of the file",
              "open fewer files at once, or read with index=none") {}

task<void> used_index::open_required() {
  if (!is_required_) co_return;
  auto reading = read();
  status why = co_await reading;
  if (why.ok() && !index_) why = not_found_error("it does not exist");
  if (why.ok()) co_return;
  std::string reason(why.message());
  if (why.code() == status_code::not_found) reason = "it does not exist";
  status refused =
      failed_precondition_error(absl::StrCat("index=required, and its index ", path(), " cannot be used: ", reason,
                                             "; `sluice index ", source_.path(), "` builds it"))
          .in_file(source_.path());
  co_await fail(std::move(refused));
}

task<void> used_index::read_once() {
  if (index_ || !is_wanted_) co_return;
  auto reading = read();
  status why = co_await reading;
  if (!why.ok())
    run_->warn(absl::StrCat(path(), " is not used: ", std::string(why.message()), "; `sluice index ", source_.path(),
                            "` builds it again"));
  is_wanted_ = index_.has_value();
}

task<bool> used_index::find() {
  auto reading = read();
  status why = co_await reading;
  is_wanted_ = why.ok() && index_.has_value();
  co_return is_wanted_;
}

task<index_place> used_index::place_before(std::uint64_t at, std::uint64_t skipped) {
  index_place found;
  auto reading = read_once();
  co_await reading;
  if (!index_) co_return found;
  const std::vector<index_place>& places = index_->places;
  auto behind = std::upper_bound(places.begin(), places.end(), at + skipped,
                                 [](std::uint64_t element, const index_place& p) { return element < p.element; });
  if (behind != places.begin() && std::prev(behind)->element > at) found = *std::prev(behind);
  co_return found;
}

status used_index::wrong_place(const index_place& p) const {
  return data_loss_error(absl::StrCat("no element begins where its index ", path(), " says: `sluice index ",
                                      source_.path(), "` builds it again"))
      .in_file(source_.path(), p.offset, p.element);
}

status used_index::check_end(std::uint64_t elements) const {
  if (!index_ || index_->elements == elements) return {};
  return data_loss_error(absl::StrCat("has ", elements, " elements, and its index ", path(), " says ", index_->elements,
                                      ": `sluice index ", source_.path(), "` builds it again"))
      .in_file(source_.path());
}

task<status> used_index::read() {
  status none;
  if (source_.info().is_stream) co_return none;
  auto reading = read_file(*run_->rt, path(), kIndexBytesMax);
  result<std::string> bytes = co_await reading.as_result();
  if (!bytes.ok() && bytes.why().code() == status_code::not_found && !is_required_) co_return none;
  if (!bytes.ok()) co_return bytes.why();
  result<record_index> index = read_index(*bytes);
  if (!index.ok()) co_return index.why();
  std::string difference = index->difference_from(source_.info(), kind_);
  if (!difference.empty()) co_return failed_precondition_error(std::move(difference));
  std::size_t held = index->places.capacity() * sizeof(index_place) + index->points.capacity() * sizeof(seek_point);
  for (const seek_point& p : index->points) held += p.window.capacity();
  status fits = memory_.resize(held);
  if (!fits.ok()) co_return fits;
  index_ = *std::move(index);
  if (!index_->points.empty())
    source_.use_points(std::make_shared<const std::vector<seek_point>>(std::move(index_->points)));
  co_return none;
}

}  // namespace sluice::lib
