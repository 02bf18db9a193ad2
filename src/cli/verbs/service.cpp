// SPDX-License-Identifier: Apache-2.0
// dispatcher, worker, status and register.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "base/files/whole_file.hpp"
#include "cli/inputs/plan_argument.hpp"
#include "cli/inputs/remote_files.hpp"
#include "cli/options/typed_command.hpp"
#include "cli/reports/figures.hpp"
#include "cli/verb_options/service_verbs.hpp"
#include "cli/verbs.hpp"
#include "service/client/service_link.hpp"
#include "sluice/coro/sync_wait.hpp"
#include "sluice/io/open_transport.hpp"
#include "sluice/runtime/runtime.hpp"
#include "sluice/service/dispatcher.hpp"
#include "sluice/service/register_dataset.hpp"
#include "sluice/service/worker.hpp"

namespace sluice::lib::cli {
namespace {

constexpr duration kStatusPatience = std::chrono::seconds(5);
constexpr std::uint64_t kShownWaitMs = 1000;

/// SIGTERM, SIGINT and SIGHUP, which all threads that start later leave to wait(). A second one ends the program at once.
class stop_signals {
 public:
  stop_signals() {
    sigemptyset(&set_);
    for (const int s : {SIGTERM, SIGINT, SIGHUP, kOwn}) sigaddset(&set_, s);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
  }
  /// Ends wait(). Thread: any.
  static void end_wait() { kill(getpid(), kOwn); }
  void wait() const {
    int got = 0;
    sigwait(&set_, &got);
    pthread_sigmask(SIG_UNBLOCK, &set_, nullptr);
  }

 private:
  static constexpr int kOwn = SIGURG;  ///< the system ignores it where it is not blocked: it ends nothing else
  sigset_t set_;
};

void announce(const std::string& address, const std::string& file) {
  if (!file.empty()) {
    whole_file out;
    status why = out.begin(file);
    if (why.ok()) why = out.write(address + "\n");
    if (why.ok()) why = out.finish();
    if (!why.ok()) throw error(why);
  }
  absl::PrintF("listening on %s\n", address);
  std::fflush(stdout);
}

std::string age_text(std::uint64_t ms) { return seconds_text(static_cast<double>(ms) / 1000); }

void print_compression(const compression_status& c) {
  const std::string link = c.link_bytes_per_second
                               ? absl::StrCat(" (", short_bytes(static_cast<double>(c.link_bytes_per_second)), "/s)")
                               : std::string();
  const std::string what = c.codec == "none" ? "frames are not compressed"
                           : c.is_forced     ? c.codec + " always"
                                             : absl::StrCat(c.codec, " since the link is slow", link);
  absl::PrintF("    to %s: %s, %s sent as %s, %s\n", c.consumer, what, short_bytes(static_cast<double>(c.raw_bytes)),
               short_bytes(static_cast<double>(c.sent_bytes)),
               c.switches == 1 ? "1 switch" : absl::StrCat(c.switches, " switches"));
}

void print_workers(const status_reply& s) {
  absl::PrintF("%s\n", counted(s.workers.size(), "worker"));
  for (const worker_status& w : s.workers) {
    std::string state = w.is_draining ? "is being stopped" : w.is_alive ? "" : "silent for " + age_text(w.silent_ms);
    absl::PrintF("  %-28s %s%s%s\n", w.worker, counted(w.reads, "split"), state.empty() ? "" : ", ", state);
    if (w.compression)
      for (const compression_status& c : *w.compression) print_compression(c);
  }
}

void print_iteration(const iteration_status& it) {
  const std::string pass = it.number == 0 ? "" : absl::StrCat(", epoch ", it.number);
  absl::PrintF("job %s%s (%s): %d of %d%s splits done, %d assigned, %s%s\n", it.job.empty() ? it.iteration : it.job,
               pass, it.mode, it.done, it.listed, it.is_all_listed ? "" : " or more", it.assigned,
               counted(it.consumers, "consumer"), it.is_finished ? ", finished" : "");
  for (const split_status& s : it.in_flight) {
    const std::string waits = s.waited_ms.value_or(0) < kShownWaitMs ? "" : ", awaited for " + age_text(*s.waited_ms);
    absl::PrintF("  split %-6d of %-24s at element %-10d on %-24s for %s%s\n", s.split, s.consumer, s.offset,
                 s.worker.empty() ? "no worker" : s.worker, age_text(s.age_ms), waits);
  }
}

void print_status(const std::string& address, const status_reply& s) {
  absl::PrintF("dispatcher %s, start %d, %s\n", address, s.dispatcher_epoch, counted(s.datasets, "dataset"));
  if (!s.store_error.empty()) absl::PrintF("the store failed: %s\n", s.store_error);
  print_workers(s);
  for (const iteration_status& it : s.iterations) print_iteration(it);
}

/// Refuses a store that is a folder, or in a folder that does not exist: no later attempt can open it.
void check_path_of(const std::string& store) {
  const std::filesystem::path file(store.substr(store.find(':') + 1)), folder = file.parent_path();
  std::error_code unknown;
  if (std::filesystem::is_directory(file, unknown))
    throw misuse(absl::StrCat("--store ", store, ": ", file.string(),
                              " is a folder; name a file in it: --store sqlite:", (file / "meta.db").string()));
  if (folder.empty() || std::filesystem::exists(folder, unknown)) return;
  throw error(not_found_error(absl::StrCat("cannot create: the folder ", folder.string(),
                                           " does not exist; create it: mkdir -p ", shell_word(folder.string())))
                  .in_file(store));
}

/// The error of a dispatcher that can do nothing any more.
status ended_error(const status& why, const std::string& address, const std::string& store) {
  return why.with_message(
      absl::StrCat("dispatcher ", address, " with --store ", store, " ends: ", std::string(why.message())));
}

/// Reports an address that this machine does not have as an error of the arguments.
[[noreturn]] void fail_to_listen(const error& e, const std::string& address) {
  if (e.why().message().find("Cannot assign requested address") == std::string_view::npos) throw e;
  throw misuse(absl::StrCat("--listen: this machine has no address ", address.substr(0, address.rfind(':')),
                            "; 0.0.0.0 stands for all that it has: write 0.0.0.0", address.substr(address.rfind(':'))));
}

}  // namespace

int dispatcher_verb(const dispatcher_arguments& a) try {
  const stop_signals signals;
  runtime rt(runtime_of(a.reading));
  add_remote_files(rt);
  dispatcher_config c;
  c.listen = a.listen;
  c.store = a.store;
  c.workers = a.workers;
  if (!a.store.empty()) check_path_of(a.store);
  c.on_stopped = stop_signals::end_wait;
  dispatcher d(rt, c);
  announce(d.address(), a.address_file);
  signals.wait();
  const status why = d.why_stopped();
  sync_wait(rt, d.close());
  if (!why.ok()) throw error(ended_error(why, d.address(), a.store));
  return kOk;
} catch (const error& e) { fail_to_listen(e, a.listen); }

int worker_verb(const worker_arguments& a) {
  const stop_signals signals;
  runtime rt(runtime_of(a.reading));
  add_remote_files(rt);
  worker_config c;
  c.listen = a.listen;
  c.address = a.address;
  c.tags = a.tags;
  c.slots = a.slots;
  worker w(rt, a.dispatcher, c);
  announce(w.address(), a.address_file);
  signals.wait();
  sync_wait(rt, w.drain(std::chrono::nanoseconds(a.patience_ns)));
  return kOk;
}

int status_verb(const status_arguments& a) {
  runtime rt;
  service_link link(transport_of(rt), a.address, kStatusPatience);
  const bool clears = a.watches && !a.as_json && isatty(STDOUT_FILENO) != 0;
  for (;;) {
    const result<status_reply> reply = sync_wait(rt, link.ask(status_request{}));
    if (reply.why().code() == status_code::deadline_exceeded)
      throw error(unavailable_error(absl::StrCat("no dispatcher answers at ", a.address, " within ",
                                                 seconds_text(std::chrono::duration<double>(kStatusPatience).count()),
                                                 "; if a run is served there: sluice top ", a.address)));
    if (!reply.ok()) throw error(reply.why());
    if (clears) absl::PrintF("\033[H\033[2J");
    if (a.as_json) absl::PrintF("%s\n", nlohmann::ordered_json::parse(to_json(*reply)).dump(a.watches ? -1 : 2));
    else print_status(a.address, *reply);
    if (std::fflush(stdout) != 0 || !a.watches) return kOk;  // the caller reports a failed write
    if (!a.as_json && !clears) absl::PrintF("\n");
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

int register_verb(const register_arguments& a) {
  const node_ptr plan = a.plan_file.empty() ? plan_or_reader(a.plan) : plan_in_file(a.plan_file);
  runtime rt(runtime_of(a.reading));
  add_remote_files(rt);
  absl::PrintF("%s\n", sync_wait(rt, detail::register_plan(rt, a.dispatcher, plan, a.dataset_id, kStatusPatience)));
  return kOk;
}

}  // namespace sluice::lib::cli
