// SPDX-License-Identifier: Apache-2.0
// Removes the secrets in URLs from all texts that people read: messages, names in reports, explanations.
//
//   redacted("https://ann:pw@host/a.csv?X-Amz-Signature=1f2e&part=3")   // "https://***@host/a.csv?X-Amz-Signature=***&part=3"
//
// It hides the text before the @ of a URL's host, and the values of parameters that are known to prove the caller's
// identity: those of presigned URLs (Amazon's, Google's, Azure's), tokens and keys of APIs, and HDFS's delegation.
// Every status passes its messages and the names of its files through this function, so that no message can omit it.
#pragma once

#include <string>
#include <string_view>

namespace sluice::lib::detail {

/// `text`: a URL, or words with URLs in them, which end at white space or a quote. Hidden parts become `***`.
std::string redacted(std::string_view text);

}  // namespace sluice::lib::detail
