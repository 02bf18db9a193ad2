// SPDX-License-Identifier: Apache-2.0
#include "cli/element_sink.hpp"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <utility>

#include "base/system_calls.hpp"
#include "cli/arrow_sink.hpp"
#include "cli/output_file.hpp"
#include "cli/output_stream.hpp"
#include "cli/verbs.hpp"
#include "sluice/format/tfrecord.hpp"

namespace sluice::lib::cli {
namespace {

using format = output_choice::format;

constexpr std::size_t kWriteBytes = std::size_t{1} << 18;
constexpr std::size_t kBlockBytes = 64 << 10;
constexpr std::string_view kStandardOutput = "-";
constexpr const char* kNames[] = {"null", "jsonl", "raw", "tfrecord", "arrow", "arrow-binary"};

class null_sink final : public element_sink {
 public:
  status take(const block&) override { return {}; }
  /// So many that the block stays in a core's L2 on its way through the stages.
  std::uint32_t wanted(const element_type& t) const override {
    return static_cast<std::uint32_t>(std::clamp<std::size_t>(kBlockBytes / t.size, 16, 1 << 15));
  }
};

class encoding_sink final : public element_sink {
 public:
  encoding_sink(format as, std::unique_ptr<byte_output> to) : as_(as), to_(std::move(to)) {}

  status take(const block& elements) override {
    taken_ = 0;
    for (std::uint32_t i = 0; i != elements.size(); ++i) {
      encode(elements.type(), elements.at(i));
      ends_.push_back(bytes_.size());
      if (bytes_.size() < kWriteBytes) continue;
      status why = write_out();
      if (!why.ok()) return why;
    }
    return to_->is_watched() ? write_out() : status();
  }
  std::uint32_t taken() const override { return to_->is_watched() ? taken_ : kUnknown; }
  status commit(output_place& place) override {
    status why = write_out();
    if (why.ok()) why = to_->commit(place);
    if (why.ok() && (place.inode || place.device)) place.format = kNames[static_cast<int>(as_)];
    return why;
  }
  void keep() override { to_->keep(); }
  status finish() override { return to_->finish(); }
  bool closed() const override { return to_->closed(); }

 private:
  void encode(const element_type& type, const void* element) {
    switch (as_) {
      case format::jsonl:
        print(type, element, bytes_);
        bytes_ += '\n';
        break;
      case format::raw: bytes_ += type.text(element); break;
      case format::tfrecord: append_tfrecord(bytes_, type.text(element)); break;
      default: break;
    }
  }
  status write_out() {
    std::size_t accepted = 0;
    status why = to_->write(bytes_, ends_, accepted);
    taken_ += static_cast<std::uint32_t>(std::upper_bound(ends_.begin(), ends_.end(), accepted) - ends_.begin());
    bytes_.clear();
    ends_.clear();
    return why;
  }

  const format as_;
  const std::unique_ptr<byte_output> to_;
  std::string bytes_;
  std::vector<std::size_t> ends_;  ///< where the elements in bytes_ end
  std::uint32_t taken_ = 0;        ///< elements of the current block that are written
};

/// The descriptor that a path stands for; -1: none.
int descriptor_in(std::string_view path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  const std::string own = absl::StrCat("/proc/", ::getpid(), "/fd/");
  for (std::string_view folder :
       {std::string_view("/dev/fd/"), std::string_view("/proc/self/fd/"), std::string_view(own)}) {
    if (!path.starts_with(folder)) continue;
    int number = -1;
    std::string_view digits = path.substr(folder.size());
    auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (read.ec == std::errc() && read.ptr == digits.data() + digits.size()) return number;
  }
  return -1;
}

/// Descriptors of the program's own are closed by exec, and those it was started with were not.
bool is_given(int descriptor) {
  int flags = ::fcntl(descriptor, F_GETFD);
  return flags >= 0 && (flags & FD_CLOEXEC) == 0;
}

void throw_unless_ok(const status& why) {
  if (!why.ok()) throw_status(why);
}

std::unique_ptr<byte_output> open_stream(const output_choice& output, const sink_options& o, std::uint64_t& cut_bytes) {
  if (output.descriptor >= 0) {
    const std::string name = output.path.empty() ? "standard output" : output.path;
    auto out = std::make_unique<output_stream>(output.descriptor, name, o.stop_fd, false);
    if (!o.from.empty() && o.from.path.empty()) throw_unless_ok(out->go_on(o.from, cut_bytes));
    return out;
  }
  int fd = open_again(output.path, O_WRONLY | O_NOCTTY);
  if (fd < 0) throw_status(errno_error(errno, "cannot create").in_file(output.path));
  return std::make_unique<output_stream>(fd, output.path, o.stop_fd, true);
}

std::unique_ptr<byte_output> open_output(const output_choice& output, const sink_options& o, std::uint64_t& cut_bytes) {
  if (output.descriptor >= 0 || output_file::is_stream(output.path)) return open_stream(output, o, cut_bytes);
  auto out = std::make_unique<output_file>();
  throw_unless_ok(o.goes_on ? out->go_on(output.path, o.from, cut_bytes) : out->begin(output.path));
  return out;
}

/// Does the output have what the run before the checkpoint wrote? Standard output may be another one by now.
bool is_begun(const output_choice& output, const sink_options& o) {
  struct stat is{};
  if (o.from.empty() || o.from.length_bytes == 0) return false;
  return output.descriptor < 0 || (::fstat(output.descriptor, &is) == 0 && is.st_ino == o.from.inode &&
                                   is.st_dev == static_cast<dev_t>(o.from.device));
}

}  // namespace

const char* output_choice::name() const { return kNames[static_cast<int>(as)]; }

arrow_options output_choice::texts() const {
  return {as == format::arrow_binary ? arrow_texts::binary : arrow_texts::by_type};
}

output_choice read_output(const std::string& text, const element_type& type) {
  auto colon = text.find(':');
  std::string name = text.substr(0, colon);
  output_choice out;
  auto known = std::find(std::begin(kNames), std::end(kNames), name);
  out.as = static_cast<format>(known - std::begin(kNames));
  if (colon != text.npos) out.path = text.substr(colon + 1);
  bool takes_path = out.as != format::null;
  bool needs_path = takes_path && out.as != format::jsonl && out.as != format::raw;
  if (known == std::end(kNames) || (colon != text.npos ? !takes_path || out.path.empty() : needs_path))
    throw misuse(absl::StrCat(
        "--output is null, jsonl, raw, jsonl:PATH, raw:PATH, tfrecord:PATH, arrow:PATH or arrow-binary:PATH, not ",
        text));
  if (out.path == kStandardOutput) out.path.clear();
  out.descriptor = out.path.empty() ? STDOUT_FILENO : descriptor_in(out.path);
  if (out.is_arrow()) {
    status why = check_arrow_output(type, out.texts());
    if (!why.ok()) throw misuse(absl::StrCat("--output ", text, ": ", std::string(why.message())));
  } else if (out.as != format::null && out.as != format::jsonl && !type.text)
    throw misuse(absl::StrCat("--output ", text, " takes records, lines or strings, and the plan gives ", type.name));
  if (out.descriptor > STDERR_FILENO && !is_given(out.descriptor))
    throw misuse(absl::StrCat("--output ", text, ": sluice was started without a descriptor ", out.descriptor));
  return out;
}

std::unique_ptr<element_sink> open_sink(const output_choice& output, const element_type& type,
                                        const sink_options& options, std::uint64_t& cut_bytes) {
  cut_bytes = 0;
  if (output.as == format::null) return std::make_unique<null_sink>();
  if (options.goes_on && !options.from.empty() && options.from.format != output.name())
    throw_status(failed_precondition_error(absl::StrCat("the checkpoint's output is ", options.from.format, ", not ",
                                                        output.name(), "; --new-output begins another one"))
                     .in_file(output.path));
  auto to = open_output(output, options, cut_bytes);
  if (!output.is_arrow()) return std::make_unique<encoding_sink>(output.as, std::move(to));
  return make_arrow_sink(type, output.texts(), std::move(to), output.name(),
                         options.goes_on && is_begun(output, options));
}

}  // namespace sluice::lib::cli
