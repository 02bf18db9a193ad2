// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.hpp"

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <functional>

#include "cli/verbs.hpp"
#include "sluice/base/fields.hpp"

#ifndef SLUICE_VERSION
#define SLUICE_VERSION "0.1.0"
#endif

namespace sluice::cli {
namespace {

/// What was typed, and the verb that was chosen.
struct typed {
  run_arguments run;
  std::string memory_budget, on_error = "stop", plan, folder = "data";
  std::uint64_t elements = 10;
  std::vector<std::string> files;
  sample_options sample;
  std::function<int()> verb;
};

void add_run(CLI::App& app, typed& t) {
  auto* run = app.add_subcommand("run", "stream a plan; report elements, rate, memory");
  run->add_option("PLAN", t.run.plan, "such as 'tfrecord(\"a.tfrecord\") | shuffle(1000) | batch(32)'")->required();
  run->add_option("--output", t.run.output, "null, jsonl (standard output), tfrecord:PATH")->capture_default_str();
  run->add_option("--limit", t.run.limit, "end after so many elements");
  run->add_option("--seed", t.run.seed, "of stages that have none of their own");
  run->add_option("--memory-budget", t.memory_budget, "for all bytes in flight: 64MiB");
  run->add_option("--workers", t.run.workers, "threads that compute")->check(CLI::Range(1, 1024));
  run->add_option("--io", t.run.io, "how files are read")->check(CLI::IsMember({"auto", "uring", "threads"}));
  run->add_option("--on-error", t.on_error, "what a bad element does")->check(CLI::IsMember({"stop", "skip"}));
  run->add_option("--checkpoint", t.run.checkpoint_file,
                  "write the position to this file at the end, or when interrupted");
  run->add_option("--resume", t.run.resume_file, "go on where a checkpoint was taken");
  run->add_flag("--quiet", t.run.quiet, "no progress line and no report");
  run->callback([&t] {
    t.verb = [&t] {
      t.run.skip_errors = t.on_error == "skip";
      if (!t.memory_budget.empty() &&
          (!read_byte_size(t.memory_budget, t.run.memory_budget_bytes) || t.run.memory_budget_bytes <= 0))
        throw misuse("--memory-budget is a size such as 64MiB, not " + t.memory_budget);
      return cli::run(t.run);
    };
  });
}

void add_readers(CLI::App& app, typed& t) {
  auto* head = app.add_subcommand("head", "the first elements of a plan or a file, as JSON lines");
  head->add_option("PLAN_OR_FILE", t.plan)->required();
  head->add_option("-n", t.elements, "how many")->capture_default_str();
  head->callback([&t] { t.verb = [&t] { return cli::head(t.plan, t.elements); }; });

  auto* cat = app.add_subcommand("cat", "the tf.Examples of TFRecord files, as JSON lines");
  cat->add_option("FILES", t.files)->required();
  cat->callback([&t] { t.verb = [&t] { return cli::cat(t.files); }; });

  auto* verify = app.add_subcommand("verify", "check every CRC of TFRecord files; 0: sound, 1: damaged");
  verify->add_option("FILES", t.files)->required();
  verify->callback([&t] { t.verb = [&t] { return cli::verify(t.files); }; });
}

void add_others(CLI::App& app, typed& t) {
  auto* explain = app.add_subcommand("explain", "a plan with types, sizes and the options in force");
  explain->add_option("PLAN", t.plan)->required();
  explain->callback([&t] { t.verb = [&t] { return cli::explain(t.plan); }; });

  auto* ops = app.add_subcommand("ops", "the stages there are");
  ops->callback([&t] { t.verb = [] { return cli::ops(); }; });

  auto* sample = app.add_subcommand("sample", "write TFRecord shards of tf.Examples to try things on");
  sample->add_option("FOLDER", t.folder)->capture_default_str();
  sample->add_option("--records", t.sample.records)->capture_default_str();
  sample->add_option("--shards", t.sample.shards)->check(CLI::Range(1, 99999))->capture_default_str();
  sample->add_option("--seed", t.sample.seed)->capture_default_str();
  sample->callback([&t] { t.verb = [&t] { return cli::sample(t.folder, t.sample); }; });
}

int complain(const char* what, int exit_status) {
  std::fflush(stdout);
  std::fprintf(stderr, "sluice: %s\n", what);
  return exit_status;
}

}  // namespace

int run_command_line(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that went away is told by write(), and ends us quietly
  typed t;
  CLI::App app("sluice: pipelines from files to ready elements", "sluice");
  app.set_version_flag("--version", "sluice " SLUICE_VERSION);
  app.require_subcommand(0, 1);  // without one we say which there are
  add_run(app, t);
  add_readers(app, t);
  add_others(app, t);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    return app.exit(asked);
  } catch (const CLI::ParseError& e) { return complain(e.what(), kMisuse); }
  if (!t.verb)
    return complain("a verb is needed: run, head, cat, verify, explain, ops or sample; --help tells more", kMisuse);
  try {
    return t.verb();
  } catch (const misuse& e) { return complain(e.what(), kMisuse); } catch (const std::exception& e) {
    return complain(e.what(), kFailed);
  }
}

}  // namespace sluice::cli
