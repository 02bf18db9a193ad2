// SPDX-License-Identifier: Apache-2.0
#include "base/whole_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

namespace sluice {

whole_file::~whole_file() {
  if (!file_) return;
  std::fclose(file_);
  if (written_ != target_) std::remove(written_.c_str());
}

status whole_file::begin(std::string path, bool go_on) {
  path_ = std::move(path);
  std::error_code unknown, failure;
  auto there = std::filesystem::canonical(path_, unknown);  // through links
  bool exists = !unknown;
  target_ = exists ? there.string() : path_;
  bool in_place = exists && !std::filesystem::is_regular_file(there, unknown);
  written_ = in_place ? target_ : target_ + ".partial";
  bool copies = go_on && exists && !in_place;
  if (copies &&
      !std::filesystem::copy_file(target_, written_, std::filesystem::copy_options::overwrite_existing, failure))
    return errno_error(failure.value(), "cannot copy what is there").in_file(path_);
  file_ = std::fopen(written_.c_str(), copies ? "ab" : "wb");
  return file_ ? status() : failed("cannot create");
}

status whole_file::write(std::string_view bytes) {
  return std::fwrite(bytes.data(), 1, bytes.size(), file_) == bytes.size() ? status() : failed("cannot write");
}

status whole_file::finish() {
  bool renames = written_ != target_;
  // A pipe or a device cannot be synchronised, and need not.
  bool is_whole = std::fflush(file_) == 0 && (!renames || ::fsync(::fileno(file_)) == 0);
  status why = is_whole ? status() : failed("cannot write");
  if (std::fclose(std::exchange(file_, nullptr)) != 0 && why.ok()) why = failed("cannot write");
  if (renames && why.ok() && std::rename(written_.c_str(), target_.c_str()) != 0)
    why = failed("cannot rename into place");
  if (renames && !why.ok()) std::remove(written_.c_str());
  return why;
}

status whole_file::failed(const char* what) const { return errno_error(errno, what).in_file(path_); }

}  // namespace sluice
