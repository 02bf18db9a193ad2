// SPDX-License-Identifier: Apache-2.0
#include "io/paths/file_router.hpp"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>

#include <type_traits>
#include <utility>

namespace sluice::lib::detail {
namespace {

template <class T> task<T> failed(status why) {
  co_await fail(std::move(why));
  if constexpr (!std::is_void_v<T>) co_return {};
}

/// The listing of a path that no file system handles.
class failed_listing final : public listing {
 public:
  explicit failed_listing(status why) : why_(std::move(why)) {}
  task<std::vector<listed_file>> next(time_point) override { return failed<std::vector<listed_file>>(why_); }

 private:
  status why_;
};

}  // namespace

void file_router::set_local(std::unique_ptr<file_system> files) {
  absl::MutexLock lock(&mutex_);
  local_ = std::move(files);
}

status file_router::add(std::string scheme, std::unique_ptr<file_system> files) {
  if (!is_scheme(scheme)) return invalid_argument_error(absl::StrCat("\"", scheme, "\" is no scheme of paths"));
  absl::AsciiStrToLower(&scheme);
  absl::MutexLock lock(&mutex_);
  if (scheme == kLocalScheme || !schemes_.try_emplace(scheme, std::move(files)).second)
    return invalid_argument_error(absl::StrCat("a file system for ", scheme, ":// was added before"));
  return {};
}

result<file_system*> file_router::local() const {
  if (!local_) {
    auto made = make_local_();
    if (!made.ok()) return made.why();
    local_ = *std::move(made);
  }
  return local_.get();
}

result<file_system*> file_router::home_of(std::string& path) const {
  const std::string scheme = scheme_of(path);
  absl::MutexLock lock(&mutex_);
  if (scheme.empty()) return local();
  if (scheme == kLocalScheme) {
    path = without_file_scheme(std::move(path));
    return local();
  }
  auto found = schemes_.find(scheme);
  if (found != schemes_.end()) return found->second.get();
  std::string known(kLocalScheme);
  for (auto& [name, unused] : schemes_) absl::StrAppend(&known, ", ", name);
  return unimplemented_error(absl::StrCat("no file system answers for ", scheme, "://; there are ", known,
                                          "; write such a local path as ./", scheme, "://…"))
      .in_file(path);
}

task<std::unique_ptr<file>> file_router::open(std::string path, open_options o) {
  auto home = home_of(path);
  if (!home.ok()) return failed<std::unique_ptr<file>>(home.why());
  return (*home)->open(std::move(path), std::move(o));
}

task<file_info> file_router::stat(std::string path, time_point deadline) {
  auto home = home_of(path);
  if (!home.ok()) return failed<file_info>(home.why());
  return (*home)->stat(std::move(path), deadline);
}

std::unique_ptr<listing> file_router::list(std::string pattern, list_options o) {
  auto home = home_of(pattern);
  if (!home.ok()) return std::make_unique<failed_listing>(home.why());
  return (*home)->list(std::move(pattern), o);
}

task<std::unique_ptr<file_writer>> file_router::create(std::string path, time_point deadline) {
  auto home = home_of(path);
  if (!home.ok()) return failed<std::unique_ptr<file_writer>>(home.why());
  return (*home)->create(std::move(path), deadline);
}

result<conditional_files*> file_router::conditional_home_of(std::string& path) const {
  auto home = home_of(path);
  if (!home.ok()) return home.why();
  if (auto* files = dynamic_cast<conditional_files*>(*home)) return files;
  return unimplemented_error(
             absl::StrCat(scheme_of(path), ":// has no writes that depend on what is there (If-None-Match)"))
      .in_file(path);
}

task<file_info> file_router::put_if(std::string path, std::string bytes, std::string version, time_point deadline) {
  auto home = conditional_home_of(path);
  if (!home.ok()) return failed<file_info>(home.why());
  return (*home)->put_if(std::move(path), std::move(bytes), std::move(version), deadline);
}

task<> file_router::remove(std::string path, time_point deadline) {
  auto home = conditional_home_of(path);
  if (!home.ok()) return failed<void>(home.why());
  return (*home)->remove(std::move(path), deadline);
}

std::size_t file_router::first_read_bytes(const std::string& path) const {
  std::string here = path;
  auto home = home_of(here);
  return home.ok() ? (*home)->first_read_bytes(here) : 0;
}

std::string file_router::description() const {
  absl::MutexLock lock(&mutex_);
  std::string text = local().value()->description();
  for (auto& [scheme, files] : schemes_) {
    const std::string of_scheme = files->description();
    if (!of_scheme.empty()) absl::StrAppend(&text, "; ", scheme, "://: ", of_scheme);
  }
  return text;
}

}  // namespace sluice::lib::detail
