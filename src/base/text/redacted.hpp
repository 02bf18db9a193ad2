// SPDX-License-Identifier: Apache-2.0
// Texts without the secrets that URLs carry, for everything that people read: messages, names in reports, explanations.
//
//   redacted("https://ann:pw@host/a.csv?X-Amz-Signature=1f2e&part=3")   // "https://***@host/a.csv?X-Amz-Signature=***&part=3"
//
// Hidden are what stands before the @ of a URL's host, and the values of parameters that are known to prove who asks: of
// presigned URLs (Amazon's, Google's, Azure's), of tokens and keys of APIs, of HDFS's delegation. Statuses pass their
// messages and the names of their files through here, so that no message has to remember it.
#pragma once

#include <string>
#include <string_view>

namespace sluice::lib::detail {

/// `text`: a URL, or words with URLs in them, which end at white space or a quote. What is hidden becomes `***`.
std::string redacted(std::string_view text);

}  // namespace sluice::lib::detail
