// SPDX-License-Identifier: Apache-2.0
#include "sluice/base/absl_status.hpp"

#include <string>

namespace sluice::lib {

absl::Status to_absl(const status& s) {
  if (s.ok()) return absl::OkStatus();
  // to_string() begins with "<code>: ", and Abseil prints the code itself.
  std::string text = s.to_string().substr(to_string(s.code()).size() + 2);
  return {static_cast<absl::StatusCode>(s.code()), absl::string_view(text.data(), text.size())};
}

status from_absl(const absl::Status& s) {
  if (s.ok()) return {};
  int code = s.raw_code();
  bool known = code > 0 && code <= static_cast<int>(status_code::unauthenticated);
  return {known ? static_cast<status_code>(code) : status_code::unknown,
          std::string_view(s.message().data(), s.message().size())};
}

}  // namespace sluice::lib
