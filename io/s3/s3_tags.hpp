// SPDX-License-Identifier: Apache-2.0
// Compares ETags with the written bytes. The ETag of an object or a part sent in one request is its MD5. The ETag of an
// object in parts is the MD5 of the MD5s of its parts, and their count.
//
//   request.set("Content-MD5", base64(sent));
//   status wrong = check_tag(answer.head, answer.head.etag, part_tag(sent));
//
// Tags are not compared if the answer shows that the server encrypts with keys of KMS or of the user, or if they have
// another form.
// Thread: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/http/messages/response_head.hpp"

namespace sluice::lib::detail {

/// Returns the tag of bytes with that MD5 (digest.hpp); "" if `md5` is empty.
std::string part_tag(std::string_view md5);
/// Returns the tag of an object in parts; "" if the tag of a part is no MD5.
std::string whole_tag(const std::vector<std::string>& parts);
/// Returns ok if `tag` equals `expected`, or cannot be compared. Errors: data_loss.
status check_tag(const response_head& head, std::string_view tag, std::string_view expected);

}  // namespace sluice::lib::detail
