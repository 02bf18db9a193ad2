// SPDX-License-Identifier: Apache-2.0
// What answers are made to suffer on real sockets, and what a reader has to make of it.
#pragma once

#include <string>
#include <vector>

#include "http/fault_proxy.hpp"
#include "sluice/base/status.hpp"

namespace sluice::lib::testing {

struct suffering {
  std::string name;
  /// Of the first answers for an object; for a large one without `later`, of the third as well.
  std::vector<fault> faults = {};
  /// Instead of these, of an object that takes many requests.
  std::vector<fault> later = {};
  bool continues = false;  ///< with the last of them
  /// ok: the bytes are those of the source.
  status_code small = status_code::ok, large = status_code::ok;
  std::string words = {};                  ///< of the error
  bool tells_number = true;                ///< the error has the server's number of the request, since a head came
  bool needs_patience = false;             ///< what is waited for comes by a time limit, which is a short one then
  std::vector<handshake> handshakes = {};  ///< of the first connections; then it is for TLS alone
  bool handshakes_go_on = false;
  std::chrono::milliseconds takes{0};  ///< at least
};

const std::vector<suffering>& all_sufferings();

}  // namespace sluice::lib::testing
