// SPDX-License-Identifier: Apache-2.0
// status: an error code with a message, or ok. All errors of the library are statuses, which also record where the
// error happened.
//
//   status s = data_loss_error("crc of the data is 0x1f, expected 0x2e").in_file("train-03.tfrecord", 81920, 17);
//   s.to_string();   // data_loss: train-03.tfrecord at byte 81920, record 17: crc of the data is 0x1f, expected 0x2e
//
// A status is one pointer, which is null for ok, so returning success costs nothing. The codes are Abseil's (and
// gRPC's); `sluice/base/absl_status.hpp` converts. It is not absl::Status because Debian's absl/status.h costs every
// including file 0.6 s, and because a status has a provenance (docs/internals/decisions/status.md).
// Thread: a status is immutable; copies share one counted representation.
#pragma once

#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace sluice::lib {

enum class status_code : std::uint8_t {
  ok = 0,
  cancelled = 1,  ///< the run was stopped; neither the end of the data nor a defect
  unknown = 2,    ///< a user's function threw an exception that is not an `error`
  invalid_argument = 3,
  deadline_exceeded = 4,
  not_found = 5,
  already_exists = 6,
  permission_denied = 7,
  resource_exhausted = 8,  ///< memory budget, descriptors, disk, an element above a limit
  failed_precondition = 9,
  aborted = 10,
  out_of_range = 11,
  unimplemented = 12,
  internal = 13,
  unavailable = 14,
  data_loss = 15,  ///< damaged bytes: a wrong checksum, a truncated file
  unauthenticated = 16,
};

/// The code's name, as printed: "data_loss".
std::string_view to_string(status_code code);

/// The place of an error. An empty text and kUnknown mean "not known".
struct provenance {
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
  std::string stage;                      ///< the operator's name: "map(parse_sample)"
  std::string file;                       ///< path or URL; its secrets are ***, as in all messages
  std::uint64_t offset_bytes = kUnknown;  ///< first byte of the record in the (decompressed) file
  std::uint64_t record_index = kUnknown;  ///< counted from 0 within the file
  std::uint64_t element = kUnknown;       ///< ordinal in the stage's input
};

class [[nodiscard]] status {
 public:
  constexpr status() noexcept = default;
  status(status_code code, std::string_view message);
  status(const status& other) noexcept : rep_(other.rep_) {
    if (rep_) retain(rep_);
  }
  status(status&& other) noexcept : rep_(other.rep_) { other.rep_ = nullptr; }
  status& operator=(status other) noexcept {
    // Not std::swap and std::exchange, whose header costs more to compile than this class.
    rep* mine = rep_;
    rep_ = other.rep_;
    other.rep_ = mine;
    return *this;
  }
  ~status() {
    if (rep_) release(rep_);
  }

  bool ok() const noexcept { return rep_ == nullptr; }
  status_code code() const noexcept;
  std::string_view message() const noexcept;
  const provenance& where() const noexcept;
  /// The exception of a user's function, if one has caused this error; otherwise null.
  std::exception_ptr cause() const noexcept;
  /// True for an element above a limit (element_limit_error). Under error_policy::skip such an element is dropped like
  /// other bad elements; every other resource_exhausted error ends the run.
  bool is_element_limit() const noexcept;

  // Each returns a copy with the given parts of the provenance. Known parts are not replaced, so the innermost stage
  // and file remain. For an ok status they return ok.
  status in_stage(std::string_view stage, std::uint64_t element = provenance::kUnknown) const;
  status in_file(std::string_view file, std::uint64_t offset_bytes = provenance::kUnknown,
                 std::uint64_t record_index = provenance::kUnknown) const;
  status with_cause(std::exception_ptr cause) const;
  /// Returns a copy with another message.
  status with_message(std::string_view message) const;

  /// A resource_exhausted error that was allocated when the program started, so that returning it needs no memory.
  static status out_of_memory() noexcept;

  /// "data_loss: tfrecord: a.tfrecord at byte 12, record 3: message", "unknown: map at element 7: message"; "ok" for
  /// ok.
  std::string to_string() const;

 private:
  friend status element_limit_error(std::string_view message);
  status mark_element_limit() &&;
  struct rep;
  static void retain(rep*) noexcept;
  static void release(rep*) noexcept;
  rep* rep_ = nullptr;
};

status cancelled_error(std::string_view message = "stopped");
status unknown_error(std::string_view message);
status invalid_argument_error(std::string_view message);
status not_found_error(std::string_view message);
status permission_denied_error(std::string_view message);
status resource_exhausted_error(std::string_view message);
/// The error of one element that is larger than a limit allows: an image, a line, a member of an archive. Its code is
/// resource_exhausted, and is_element_limit() is true.
status element_limit_error(std::string_view message);
status failed_precondition_error(std::string_view message);
status out_of_range_error(std::string_view message);
status unimplemented_error(std::string_view message);
status internal_error(std::string_view message);
status unavailable_error(std::string_view message);
status data_loss_error(std::string_view message);
/// From errno: ENOENT → not_found, EACCES → permission_denied …; the message is `what`, then strerror's text.
status errno_error(int error_number, std::string_view what);

/// The exception that `next()` and `sync_wait` throw: a status with its provenance.
class error : public std::runtime_error {
 public:
  explicit error(status s) : std::runtime_error(s.to_string()), status_(std::move(s)) {}
  const status& why() const noexcept { return status_; }
  status_code code() const noexcept { return status_.code(); }

 private:
  status status_;
};

/// The status of the exception being handled: that of an `error`, out_of_memory() for bad_alloc, else `unknown` with
/// its what() and cause.
status current_exception_status() noexcept;
/// Throws `error(s)`. If s was made from an exception of another type and has no provenance, throws that exception
/// itself.
[[noreturn]] void throw_status(const status& s);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::cancelled_error;
using lib::current_exception_status;
using lib::data_loss_error;
using lib::element_limit_error;
using lib::errno_error;
using lib::error;
using lib::failed_precondition_error;
using lib::internal_error;
using lib::invalid_argument_error;
using lib::not_found_error;
using lib::out_of_range_error;
using lib::permission_denied_error;
using lib::provenance;
using lib::resource_exhausted_error;
using lib::status;
using lib::status_code;
using lib::throw_status;
using lib::unavailable_error;
using lib::unimplemented_error;
using lib::unknown_error;

}  // namespace sluice
