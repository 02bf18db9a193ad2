// SPDX-License-Identifier: Apache-2.0
#include "cli/element_sink.hpp"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/whole_file.hpp"
#include "cli/verbs.hpp"
#include "sluice/format/tfrecord.hpp"

namespace sluice::cli {
namespace {

constexpr std::size_t kWriteBytes = std::size_t{1} << 18;
constexpr std::size_t kBlockBytes = 64 << 10;
constexpr std::string_view kTfrecord = "tfrecord:";

class null_sink final : public element_sink {
 public:
  status take(const block&) override { return {}; }
  /// So many that the block stays in a core's L2 on its way through the stages.
  std::uint32_t wanted(const element_type& t) const override {
    return static_cast<std::uint32_t>(std::clamp<std::size_t>(kBlockBytes / t.size, 16, 1 << 15));
  }
};

class jsonl_sink final : public stdout_sink {
 public:
  status take(const block& elements) override {
    for (std::uint32_t i = 0; i != elements.size(); ++i) {
      print(elements.type(), elements.at(i), text_);
      text_ += '\n';
      if (text_.size() < kWriteBytes) continue;
      status why = write_out(text_);
      if (!why.ok()) return why;
    }
    return write_out(text_);
  }

 private:
  std::string text_;
};

/// Until it is finished a plan may read what it replaces or goes on with, and a run that fails leaves that as it was.
class tfrecord_sink final : public element_sink {
 public:
  tfrecord_sink(const std::string& path, bool append) {
    status why = file_.begin(path, append);
    if (!why.ok()) throw_status(why);
  }
  status take(const block& elements) override {
    for (std::uint32_t i = 0; i != elements.size(); ++i) append_tfrecord(bytes_, elements.type().text(elements.at(i)));
    return bytes_.size() < kWriteBytes ? status() : write_out();
  }
  status finish() override {
    status why = write_out();
    return why.ok() ? file_.finish() : why;
  }

 private:
  status write_out() {
    status why = file_.write(bytes_);
    bytes_.clear();
    return why;
  }
  whole_file file_;
  std::string bytes_;
};

}  // namespace

status stdout_sink::write_out(std::string& text) {
  std::string_view rest = text;
  while (!rest.empty()) {
    auto n = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      closed_ = errno == EPIPE;
      return errno_error(errno, "cannot write to standard output");
    }
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
  text.clear();
  return {};
}

std::string sink_path(const std::string& output) {
  return output.starts_with(kTfrecord) ? output.substr(kTfrecord.size()) : std::string();
}

void check_sink(const std::string& output, const element_type& type) {
  if (output == "null" || output == "jsonl") return;
  if (!absl::StartsWith(output, absl::string_view(kTfrecord.data(), kTfrecord.size())) ||
      output.size() == kTfrecord.size())
    throw misuse(absl::StrCat("--output is null, jsonl or tfrecord:PATH, not ", output));
  if (!type.text)
    throw misuse(absl::StrCat("--output ", output, " takes records, lines or strings, and the plan gives ", type.name));
}

std::unique_ptr<element_sink> open_sink(const std::string& output, const element_type& type, bool append) {
  check_sink(output, type);
  if (output == "null") return std::make_unique<null_sink>();
  if (output == "jsonl") return std::make_unique<jsonl_sink>();
  return std::make_unique<tfrecord_sink>(output.substr(kTfrecord.size()), append);
}

}  // namespace sluice::cli
