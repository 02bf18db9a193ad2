// SPDX-License-Identifier: Apache-2.0
#include "engine/lowering/error_gate.hpp"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/quarantine_sink.hpp"
#include "runtime/sites/error_account.hpp"
#include "sluice/runtime/ledger.hpp"

namespace sluice::lib {

status error_gate::located(const status& why, std::uint64_t element) const {
  status found = with_origin(why, element);
  if (error_watch* watch = run_->quarantines->watch()) [[unlikely]]
    watch->failed(*site_, found);
  return found;
}

status error_gate::with_origin(const status& why, std::uint64_t element) const {
  const status here = why.in_stage(*label_, element);
  if (!origin_.file || !here.where().file.empty()) return here;
  if (origin_.first_line == element_origin::kUnknown || element == provenance::kUnknown)
    return here.in_file(*origin_.file);
  const std::uint64_t line = origin_.first_line + element;
  return here.with_message(absl::StrCat("line ", line + 1, ": ", std::string(here.message())))
      .in_file(*origin_.file, provenance::kUnknown, line);
}

bool error_gate::may_drop(const status& why) const {
  if (!skips() || why.code() == status_code::cancelled) return false;
  return why.code() != status_code::resource_exhausted || why.is_element_limit();
}

outlet::error_awaiter error_gate::settle(outlet& out, const status& why, std::uint64_t element,
                                         kept_bytes bytes) const {
  status here = located(why, element);
  if (!may_drop(here)) return out.end_with(std::move(here));
  return out.drop(dropped(std::move(here), 1, std::move(bytes)));
}

kept_bytes error_gate::kept(std::string_view bytes) const {
  if (!keeps()) return nullptr;
  // The copy is in flight like an element.
  return kept_copy(bytes.substr(0, kKeptBytesMax), *run_->ledger, site_->line(purpose::channel));
}

kept_bytes kept_copy(std::string_view bytes, memory_ledger& ledger, ledger_line& line) {
  const std::size_t charged = bytes.size() + sizeof(std::string);
  if (!ledger.try_charge(charged, line)) return nullptr;
  line.retain();
  auto credit = [&line, charged](const std::string* kept) {
    line.release(charged);
    line.unretain();
    delete kept;
  };
  return {new std::string(bytes), std::move(credit)};
}

std::uint64_t error_gate::errors_max() const { return std::min(run_->errors_max, errors_allowed(account_)); }

}  // namespace sluice::lib
