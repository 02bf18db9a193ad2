// SPDX-License-Identifier: Apache-2.0
// What ETags say of the bytes that were written: of an object or a part that came in one request it is their MD5, of an object in
// parts the MD5 of the MD5s of its parts, with their count.
//
//   request.set("Content-MD5", base64(sent));
//   status wrong = check_tag(answer.head, answer.head.etag, part_tag(sent));
//
// Not so where the server encrypts with keys of KMS or of the user, which its answer says; nor where a tag has another form.
// Thread: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/http/messages/response_head.hpp"

namespace sluice::lib::detail {

/// The tag of bytes with that MD5 (digest.hpp); "" where there is none.
std::string part_tag(std::string_view md5);
/// Of an object in parts. "" where one of the tags is no MD5.
std::string whole_tag(const std::vector<std::string>& parts);
/// Ok where `tag` says the same as `expected`, or says nothing that can be compared. Errors: data_loss.
status check_tag(const response_head& head, std::string_view tag, std::string_view expected);

}  // namespace sluice::lib::detail
