// SPDX-License-Identifier: Apache-2.0
#include <absl/cleanup/cleanup.h>
#include <absl/strings/str_cat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>

#include "cli/inputs/file_table.hpp"
#include "cli/inputs/matched_files.hpp"
#include "cli/inputs/plan_argument.hpp"
#include "cli/inputs/remote_files.hpp"
#include "cli/messages/exit_status.hpp"
#include "cli/messages/repeated_reasons.hpp"
#include "cli/options/typed_command.hpp"
#include "cli/reports/figures.hpp"
#include "cli/reports/watch.hpp"
#include "cli/verbs.hpp"
#include "io/paths/file_router.hpp"
#include "io/paths/glob.hpp"
#include "op/bagz/bagz_files.hpp"
#include "sluice/base/mutex.hpp"
#include "sluice/coro/scope.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/io/copy_file.hpp"
#include "sluice/io/files.hpp"

namespace sluice::lib::cli {
namespace {

struct one_copy {
  std::string from, to;
  bool is_special = false;  ///< a pipe, a socket or a device, which a pattern matched
};

/// The kind of a match. A link without a target is a file: copying it reports the error.
enum class match_kind : std::uint8_t { file, folder, special };
match_kind kind_of(const std::string& path) {
  using std::filesystem::file_type;
  if (detail::is_remote(path)) return match_kind::file;
  std::error_code unknown;
  switch (std::filesystem::status(detail::without_file_scheme(path), unknown).type()) {
    case file_type::directory: return match_kind::folder;
    case file_type::fifo:
    case file_type::socket:
    case file_type::character:
    case file_type::block: return match_kind::special;
    default: return match_kind::file;
  }
}

/// Returns the text after the last slash.
std::string name_in(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// Adds the file that `from` names, or the files that it matches. A ** keeps the folders below its beginning, so that
/// files of the same name in several folders stay distinct.
void add_copies(runtime& rt, const std::string& from, const std::string& to, bool into_folder,
                std::vector<one_copy>& all) {
  auto target = [&](const std::string& name) { return into_folder ? to + name : to; };
  if (!is_file_pattern(from)) {
    if (is_folder(from))
      throw misuse(absl::StrCat(from, " is a folder: a pattern names its files; use: sluice cp ",
                                shell_word(folder_text(from) + "**"), " ",
                                shell_word(into_folder ? to : folder_text(to))));
    all.push_back({from, target(name_in(from))});
    return;
  }
  if (is_bagz_shard_set(from)) {
    for (const std::string& path : matched_files(rt, {from})) all.push_back({path, target(name_in(path))});
    return;
  }
  const std::size_t scheme_end = detail::scheme_of(from).empty() ? 0 : from.find("://") + 3;
  const detail::glob_pattern pattern(from.substr(scheme_end));
  const std::size_t kept_from = scheme_end + pattern.prefix().rfind('/') + 1;
  const std::size_t before = all.size();
  for (const std::string& path : sync_wait(rt, glob(files_of(rt), from, io_deadline(rt)))) {
    const match_kind kind = kind_of(path);
    if (kind == match_kind::folder) continue;  // patterns match folders, too
    all.push_back(
        {path, target(pattern.is_deep() ? path.substr(kept_from) : name_in(path)), kind == match_kind::special});
  }
  if (all.size() == before)
    throw_status(
        not_found_error("no file matches, only folders do: a ** at the end of a pattern matches the files in them")
            .in_file(from));
}

std::vector<one_copy> copies_of(runtime& rt, const cp_arguments& a) {
  std::string to = a.paths.back();
  if (to.starts_with("http://") || to.starts_with("https://"))
    throw_status(unimplemented_error("nothing can be written over HTTP: copy to a local path, or to an object store by "
                                     "its own scheme, such as s3://bucket/key")
                     .in_file(to));
  if (to == "-") throw misuse("cp copies into files, and - is standard output: ./- is the file of that name");
  const bool into_folder = to.ends_with("/") || is_folder(to);
  if (into_folder) to = folder_text(std::move(to));
  std::vector<one_copy> all;
  for (std::size_t i = 0; i + 1 != a.paths.size(); ++i) add_copies(rt, a.paths[i], to, into_folder, all);
  if (all.size() > 1 && !into_folder)
    throw misuse(absl::StrCat(counted(all.size(), "file"), " cannot be copied to one name: write ", to,
                              "/ to copy them into a folder"));
  std::map<std::string, std::string> by_target;
  for (const one_copy& c : all) {
    auto [there, is_new] = by_target.try_emplace(c.to, c.from);
    if (!is_new) throw misuse(absl::StrCat(there->second, " and ", c.from, " would both be ", c.to));
    std::error_code unknown;
    if (c.from == c.to || std::filesystem::equivalent(c.from, c.to, unknown))
      throw misuse(absl::StrCat(c.from, " and ", c.to, " are the same file"));
  }
  file_table sources;
  for (const one_copy& c : all) sources.add(file_role::copied, c.from);
  for (const one_copy& c : all) sources.check_target(file_role::copy, c.to);
  return all;
}

/// Creates the folders that contain a local copy.
void make_folders(const std::string& to) {
  if (detail::is_remote(to)) return;
  const std::filesystem::path folder = std::filesystem::path(detail::without_file_scheme(to)).parent_path();
  std::error_code why;
  if (!folder.empty()) std::filesystem::create_directories(folder, why);  // creating the file reports errors
}

/// The copies and the index of the next one, shared by one task for each worker.
class copying {
 public:
  copying(const std::vector<one_copy>& all, const cp_arguments& a) : all_(all), arguments_(a) {}

  static task<void> work(copying* c, runtime& rt) {
    for (std::size_t i = c->next_++; i < c->all_.size() && !c->stop; i = c->next_++) {
      const one_copy& one = c->all_[i];
      if (one.is_special) {
        c->report(one, failed_precondition_error("matches the pattern, and is a pipe, a socket or a device: these are "
                                                 "copied only where they are named themselves")
                           .in_file(one.from));
        continue;
      }
      make_folders(one.to);
      copy_options o{.overwrites = c->arguments_.overwrites, .verifies = c->arguments_.verifies};
      o.on_bytes = [c](std::uint64_t n) {
        c->bytes += n;
        return !c->stop;
      };
      auto one_file = copy_file(rt, one.from, one.to, std::move(o));
      auto done = co_await one_file.as_result();
      c->report(one, done.why());
    }
  }

  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::uint64_t> files{0};
  std::atomic<int> exit_status{kOk};  ///< of the copies that failed
  std::atomic<bool> stop{false};

 private:
  void report(const one_copy& one, const status& why) {
    if (why.ok()) {
      ++files;
      return;
    }
    if (stop && why.code() == status_code::cancelled) return;
    mutex_lock lock(mutex_);
    const bool exists = why.code() == status_code::failed_precondition && why.message() == "exists already";
    exit_status = more_serious(exit_status, exists ? kMisuse : exit_status_of(why));
    std::string text = exists ? absl::StrCat(one.to, " exists: name another file, or add --overwrite")
                              : reasons_.text_of(why, one.from);
    if (isatty(STDERR_FILENO)) std::fputs("\r\x1b[K", stderr);  // the progress line
    print_error(text);
  }

  const std::vector<one_copy>& all_;
  const cp_arguments& arguments_;
  std::atomic<std::size_t> next_{0};
  mutex mutex_;  // for standard error
  repeated_reasons reasons_ ABSL_GUARDED_BY(mutex_);
};

void show(const copying& c, std::size_t of, double seconds) {
  const auto bytes = static_cast<double>(c.bytes.load());
  std::fprintf(stderr, "\r\x1b[K%s of %s files  %s  %s/s", grouped(c.files).c_str(), grouped(of).c_str(),
               short_bytes(bytes).c_str(), short_bytes(bytes / std::max(seconds, 1e-9)).c_str());
  std::fflush(stderr);
}

task<> work_to_end(task<void> work, scope& all, std::atomic<std::size_t>& left) {
  auto mine = std::move(work);
  co_await mine;
  if (--left == 0) all.request_stop();  // only the task that watches for a stop is left
}
/// Ends every wait of a copy when a stop is requested.
task<> stop_when_asked(const copying& c, scope& all) {
  constexpr auto kLooks = std::chrono::milliseconds(50);
  while (!c.stop) co_await sleep_for(kLooks);
  all.request_stop();
}
task<void> work_all(std::vector<task<void>> workers, const copying& c) {
  environment* env = co_await this_environment();
  if (workers.empty()) co_return;  // with no workers, nothing would end the wait for a stop
  std::atomic<std::size_t> left{workers.size()};
  scope all(*env);
  for (task<void>& work : workers) all.spawn(work_to_end(std::move(work), all, left));
  all.spawn(stop_when_asked(c, all));
  co_await all.join();
}

}  // namespace

int cp(const cp_arguments& a) {
  if (a.paths.size() < 2)
    throw misuse(absl::StrCat("cp needs a source and a destination, as in: sluice cp ", a.paths[0], " copy/"));
  watch interrupts;
  runtime rt(runtime_of(a.reading));
  add_remote_files(rt);
  const std::vector<one_copy> all = copies_of(rt, a);
  copying c(all, a);
  const auto start = std::chrono::steady_clock::now();
  auto seconds = [start] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  const bool is_shown = !a.quiet && isatty(STDERR_FILENO);
  interrupts.start([&c] { c.stop = true; },
                   [&] {
                     if (is_shown) show(c, all.size(), seconds());
                   });
  std::vector<task<void>> workers;
  for (std::size_t n = std::min<std::size_t>(all.size(), rt.workers()); n != 0; --n)
    workers.push_back(copying::work(&c, rt));
  {
    absl::Cleanup ended = [&] { interrupts.stop(); };
    sync_wait(rt, work_all(std::move(workers), c));
  }
  if (is_shown) std::fputs("\r\x1b[K", stderr);
  const auto bytes = static_cast<double>(c.bytes.load());
  if (!a.quiet && (c.files != 0 || c.exit_status == kOk))
    std::fprintf(stderr, "%s of %s bytes%s in %s: %s/s\n", counted(c.files, "file").c_str(), grouped(c.bytes).c_str(),
                 a.verifies ? ", compared," : "", seconds_text(seconds()).c_str(),
                 short_bytes(bytes / std::max(seconds(), 1e-9)).c_str());
  if (c.stop) return interrupts.exit_status();
  return c.exit_status;
}

}  // namespace sluice::lib::cli
