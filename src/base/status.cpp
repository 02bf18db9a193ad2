// SPDX-License-Identifier: Apache-2.0
#include "sluice/base/status.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/text/redacted.hpp"

namespace sluice::lib {

namespace {
constexpr std::string_view kOutOfMemory = "out of memory";
}

struct status::rep {
  class reserve;

  std::atomic<std::uint32_t> references{1};
  status_code code = status_code::ok;
  std::string message;
  provenance where;
  std::exception_ptr cause;
  bool is_reserved = false;  ///< allocated early, and returned to the reserve instead of being freed
  bool is_element_limit = false;

  rep() = default;
  rep(const rep& o)
      : code(o.code), message(o.message), where(o.where), cause(o.cause), is_element_limit(o.is_element_limit) {}
};

/// Reserved statuses with the name of the stage that has found no memory, for when no memory is left to copy the name.
class status::rep::reserve {
 public:
  static reserve& all() noexcept {
    static auto* kept = new reserve;  // allocated before it is needed, and never freed
    return *kept;
  }
  /// Returns "out of memory" in the stage; null if all reserved statuses are in use.
  rep* take(std::string_view stage, std::uint64_t element) noexcept {
    for (std::atomic<rep*>& place : places_) {
      rep* r = place.exchange(nullptr, std::memory_order_acquire);
      if (!r) continue;
      r->where.stage.assign(stage.substr(0, kStageMax));
      r->where.element = element;
      return r;
    }
    return nullptr;
  }
  void put_back(rep* r) noexcept {
    r->references.store(1, std::memory_order_relaxed);
    for (std::atomic<rep*>& place : places_) {
      rep* none = nullptr;
      if (place.compare_exchange_strong(none, r, std::memory_order_release, std::memory_order_relaxed)) return;
    }
  }

 private:
  static constexpr std::size_t kPlaces = 16, kStageMax = 200;

  reserve() {
    for (std::atomic<rep*>& place : places_) {
      rep* r = new rep;
      r->is_reserved = true;
      r->code = status_code::resource_exhausted;
      r->message = kOutOfMemory;
      r->where.stage.reserve(kStageMax);
      place.store(r, std::memory_order_relaxed);
    }
  }

  std::atomic<rep*> places_[kPlaces] = {};
};

std::string_view to_string(status_code code) {
  static constexpr std::string_view kNames[] = {
      "ok",        "cancelled",      "unknown",           "invalid_argument",   "deadline_exceeded",
      "not_found", "already_exists", "permission_denied", "resource_exhausted", "failed_precondition",
      "aborted",   "out_of_range",   "unimplemented",     "internal",           "unavailable",
      "data_loss", "unauthenticated"};
  auto i = static_cast<std::size_t>(code);
  return i < std::size(kNames) ? kNames[i] : "unknown";
}

status::status(status_code code, std::string_view message) {
  if (code == status_code::ok) return;
  rep_ = new rep;
  rep_->code = code;
  rep_->message = detail::redacted(message);
}

// The caller of retain already has a reference, so relaxed suffices. The last release must see every earlier use of the
// representation before it frees it, hence acq_rel.
void status::retain(rep* r) noexcept { r->references.fetch_add(1, std::memory_order_relaxed); }
void status::release(rep* r) noexcept {
  if (r->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (r->is_reserved) rep::reserve::all().put_back(r);
  else delete r;
}

status_code status::code() const noexcept { return rep_ ? rep_->code : status_code::ok; }
std::string_view status::message() const noexcept { return rep_ ? std::string_view(rep_->message) : ""; }
const provenance& status::where() const noexcept {
  static const provenance nowhere;
  return rep_ ? rep_->where : nowhere;
}
std::exception_ptr status::cause() const noexcept { return rep_ ? rep_->cause : nullptr; }
bool status::is_element_limit() const noexcept { return rep_ && rep_->is_element_limit; }

status status::in_stage(std::string_view stage, std::uint64_t element) const {
  if (!rep_ || !rep_->where.stage.empty()) return *this;
  status s;
  try {
    s.rep_ = new rep(*rep_);
    s.rep_->where.stage = detail::redacted(stage);
    s.rep_->where.element = element;
  } catch (const std::bad_alloc&) {
    s = status();
    s.rep_ = rep::reserve::all().take(stage, element);
    if (!s.rep_) return out_of_memory();
  }
  return s;
}

status status::in_file(std::string_view file, std::uint64_t offset_bytes, std::uint64_t record_index) const {
  if (!rep_ || !rep_->where.file.empty()) return *this;
  status s;
  s.rep_ = new rep(*rep_);
  s.rep_->where.file = detail::redacted(file);
  s.rep_->where.offset_bytes = offset_bytes;
  s.rep_->where.record_index = record_index;
  return s;
}

status status::with_cause(std::exception_ptr cause) const {
  if (!rep_) return *this;
  status s;
  s.rep_ = new rep(*rep_);
  s.rep_->cause = std::move(cause);
  return s;
}

status status::with_message(std::string_view message) const {
  if (!rep_) return *this;
  status s;
  s.rep_ = new rep(*rep_);
  s.rep_->message = detail::redacted(message);
  return s;
}

status status::mark_element_limit() && {
  rep_->is_element_limit = true;
  return std::move(*this);
}

std::string status::to_string() const {
  if (!rep_) return "ok";
  std::string text(sluice::lib::to_string(rep_->code));
  const provenance& w = rep_->where;
  if (!w.stage.empty()) text.append(": ").append(w.stage);
  if (w.element != provenance::kUnknown) text.append(" at element ").append(std::to_string(w.element));
  if (!w.file.empty()) {
    text.append(": ").append(w.file);
    if (w.offset_bytes != provenance::kUnknown) text.append(" at byte ").append(std::to_string(w.offset_bytes));
    if (w.record_index != provenance::kUnknown) text.append(", record ").append(std::to_string(w.record_index));
  }
  return text.append(": ").append(rep_->message);
}

status cancelled_error(std::string_view m) { return {status_code::cancelled, m}; }
status unknown_error(std::string_view m) { return {status_code::unknown, m}; }
status invalid_argument_error(std::string_view m) { return {status_code::invalid_argument, m}; }
status not_found_error(std::string_view m) { return {status_code::not_found, m}; }
status permission_denied_error(std::string_view m) { return {status_code::permission_denied, m}; }
status resource_exhausted_error(std::string_view m) { return {status_code::resource_exhausted, m}; }
status element_limit_error(std::string_view m) {
  return status(status_code::resource_exhausted, m).mark_element_limit();
}
status failed_precondition_error(std::string_view m) { return {status_code::failed_precondition, m}; }
status out_of_range_error(std::string_view m) { return {status_code::out_of_range, m}; }
status unimplemented_error(std::string_view m) { return {status_code::unimplemented, m}; }
status internal_error(std::string_view m) { return {status_code::internal, m}; }
status unavailable_error(std::string_view m) { return {status_code::unavailable, m}; }
status data_loss_error(std::string_view m) { return {status_code::data_loss, m}; }

namespace {
status_code code_of_errno(int e) {
  switch (e) {
    case ENOENT:
    case ENOTDIR:
    case ENODEV:
    case ENXIO: return status_code::not_found;
    case EACCES:
    case EPERM:
    case EROFS: return status_code::permission_denied;
    case EEXIST: return status_code::already_exists;
    case EISDIR:
    case EINVAL:
    case ENAMETOOLONG:
    case ELOOP:
    case ESPIPE: return status_code::invalid_argument;
    case EMFILE:
    case ENFILE:
    case ENOSPC:
    case ENOMEM:
    case EDQUOT: return status_code::resource_exhausted;
    case ECANCELED: return status_code::cancelled;
    case ETIMEDOUT: return status_code::deadline_exceeded;
    case EAGAIN:
    case EBUSY:
    case ECONNREFUSED:
    case ECONNRESET:
    case EPIPE: return status_code::unavailable;
    case EIO: return status_code::data_loss;
    case ENOSYS:
    case EOPNOTSUPP: return status_code::unimplemented;
    default: return status_code::unknown;
  }
}
}  // namespace

status errno_error(int error_number, std::string_view what) {
  char buffer[128];
  std::string text(what);
  text.append(": ").append(strerror_r(error_number, buffer, sizeof buffer));
  return {code_of_errno(error_number), text};
}

status status::out_of_memory() noexcept {
  static rep* kept = [] {  // allocated before it is needed, and never freed
    rep::reserve::all();
    status s = resource_exhausted_error(kOutOfMemory);
    return std::exchange(s.rep_, nullptr);
  }();
  status s;
  s.rep_ = kept;
  retain(kept);
  return s;
}

namespace {
[[maybe_unused]] const status kMadeEarly = status::out_of_memory();

status status_of_exception() {
  try {
    throw;
  } catch (const error& e) { return e.why(); } catch (const std::bad_alloc&) {
    return status::out_of_memory();
  } catch (const std::exception& e) {
    return unknown_error(e.what()).with_cause(std::current_exception());
  } catch (...) {
    return unknown_error("an exception that is not a std::exception").with_cause(std::current_exception());
  }
}
}  // namespace

status current_exception_status() noexcept {
  try {
    return status_of_exception();
  } catch (...) { return status::out_of_memory(); }  // no memory is left to report the other error
}

void throw_status(const status& s) {
  if (s.cause() && s.where().stage.empty() && s.where().file.empty()) std::rethrow_exception(s.cause());
  throw error(s);
}

}  // namespace sluice::lib
