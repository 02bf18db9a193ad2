// SPDX-License-Identifier: Apache-2.0
#include "cli/options/command_line.hpp"

#include <absl/strings/str_cat.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <sstream>

#include "cli/inputs/file_readers.hpp"
#include "cli/inputs/plugins.hpp"
#include "cli/inputs/remote_files.hpp"
#include "cli/inputs/transport_choice.hpp"
#include "cli/messages/advice.hpp"
#include "cli/messages/exit_status.hpp"
#include "cli/options/help.hpp"
#include "cli/options/mistyped.hpp"
#include "cli/options/option_checks.hpp"
#include "cli/options/standard_files.hpp"
#include "cli/reports/description.hpp"
#include "cli/verb_options/file_verbs.hpp"
#include "cli/verb_options/plan_verbs.hpp"
#include "cli/verb_options/service_verbs.hpp"
#include "cli/verbs.hpp"
#include "sluice/base/field_types.hpp"
#include "sluice/base/pace_types.hpp"
#include "sluice/format/inflate.hpp"
#include "sluice/io/open_file_system.hpp"
#include "sluice/io/plan_files.hpp"
#include "sluice/version.hpp"

namespace sluice::lib::cli {
namespace {

constexpr std::uint64_t kRecordsMax = 1'000'000'000'000;

/// The arguments as typed, and the chosen verb.
struct typed {
  run_arguments run;
  reading_arguments reading;
  error_arguments errors;
  std::string shard_size, row_group_size, every, folder = "data";
  std::string resume_or_start, compression = "automatic", shell;
  format_arguments format;
  explain_arguments explain;
  head_arguments head;
  convert_arguments convert;
  count_arguments count;
  select_arguments select;
  cat_arguments cat;
  verify_arguments verify;
  std::vector<std::string> plugins;
  sample_options sample;
  std::function<int()> verb;
};

/// Rejects an invalid SLUICE_IO at once; it is read only when the first file is opened.
void check_environment() {
  const char* io = std::getenv("SLUICE_IO");
  auto known = parse_io_backend(io ? io : "");
  if (!known.ok()) throw misuse(absl::StrCat("SLUICE_IO: ", std::string(known.why().message())));
}

std::function<int()> reading(std::function<int()> verb) {
  return [verb = std::move(verb)] {
    check_environment();
    return verb();
  };
}

void add_plugins(CLI::App& verb, typed& t) {
  verb.add_option("--plugin", t.plugins, "a shared object that registers functions for the plan; may be repeated")
      ->type_name("PATH")
      ->allow_extra_args(false);
}

/// Adds a plan as an argument, or an option that names its file.
void add_plan(CLI::App& verb, typed& t, const char* name, std::string& plan, std::string& file, const char* what) {
  add_plugins(verb, t);
  auto* typed_plan = verb.add_option(name, plan, what);
  auto* in_file =
      verb.add_option("-f,--file", file, "read the plan, as text or JSON, from this file; - for standard input")
          ->check(path());
  in_file->excludes(typed_plan);
  verb.parse_complete_callback([name, typed_plan, in_file] {
    if (typed_plan->count() == 0 && in_file->count() == 0) throw CLI::RequiredError(std::string(name) + " or --file");
  });
}

/// Adds the options that all verbs that read files share.
void add_reading(CLI::App& verb, typed& t) {
  add_format_options(verb, t.format);
  add_reading_options(verb, t.reading);
  add_error_options(verb, t.errors);
}

/// Returns the action of a verb that reads elements and has arguments of its own.
template <class Arguments> std::function<int()> reading_as(typed& t, Arguments& a, int (*verb)(const Arguments&)) {
  return reading([&t, &a, verb] {
    a.reading = t.reading;
    a.format = t.format;
    if constexpr (requires { a.errors; }) a.errors = t.errors;
    return verb(a);
  });
}

/// Adds the options of an output other than its format and path.
void add_output_options(CLI::App& verb, typed& t, output_arguments& output) {
  verb.add_option("--compression", output.compression,
                  "the output's compression; automatic: gzip if its name ends in .gz, zstd if in .zst. lz4, and zstd "
                  "of Arrow: of the buffers; snappy, and all of Parquet: of the pages, by default zstd")
      ->check(one_of({"automatic", "none", "gzip", "lz4", "snappy", "zstd"}))
      ->capture_default_str();
  auto* shards = verb.add_option("--shards", output.shards,
                                 "the number of files, which receive the elements alternately: out-00000-of-00004.csv, "
                                 "or a PATH with {shard} and {shards}")
                     ->check(whole(1, 99999));
  verb.add_option("--shard-size", t.shard_size,
                  "begin another file after about this number of bytes before compression: out-00000.csv …")
      ->check(size_in_bytes())
      ->excludes(shards);
  verb.add_option("--row-group-size", t.row_group_size, "of the values in a row group of Parquet; by default 64MiB")
      ->check(size_in_bytes());
}

void add_run(CLI::App& app, typed& t) {
  auto* run = app.add_subcommand("run", "stream a plan; report elements, rate, memory");
  add_plan(*run, t, "PLAN", t.run.plan, t.run.plan_file,
           "the plan, such as 'tfrecord(\"a.tfrecord\") | shuffle(1000) | batch(32)'");
  auto* output =
      run->add_option(
             "--output", t.run.output.output,
             "null; a PATH that ends in .jsonl, .csv, .tfrecord, .arrow, .parquet, .bagz, .array_record, .npy or .txt, "
             "and .gz or .zst; or FORMAT:PATH: jsonl (texts that are not UTF-8 as {\"base64\":\"…\"}), csv, raw "
             "(texts, joined), lines, tfrecord (of texts), example (structures as tf.Examples in TFRecords), arrow "
             "(an Arrow IPC stream; arrow-binary: texts as binary), parquet, bagz, array_record, mds (PATH is a folder "
             "and ends with /), npy (one array); - is "
             "standard output, as are jsonl, csv, raw and "
             "lines alone; an existing file is replaced, unless it is an input, a lookup table, the plan or the "
             "checkpoint of this run")
          ->capture_default_str()
          ->type_name("OUTPUT");
  add_output_options(*run, t, t.run.output);
  run->add_option("--limit", t.run.limit, "end after this number of elements")->check(whole(0, kAny));
  run->add_option("--seed", t.run.seed,
                  "the seed of stages without one in the plan; a resumed run uses its checkpoint's seed")
      ->check(whole(0, kAny));
  run->add_option("--epoch", t.run.epoch,
                  "the number of this pass over the data; shuffles draw another order in each; 0 by default")
      ->check(whole(0, kAny));
  add_reading_options(*run, t.reading);
  add_error_options(*run, t.errors);
  run->add_option("--checkpoint", t.run.checkpoint_file,
                  "write the position to this file at the end, when interrupted, and at an error unless the disk is "
                  "full; an existing file is replaced only if it is a checkpoint, and never if this run uses it for "
                  "something else")
      ->check(path());
  run->add_option("--every", t.every,
                  "also write the checkpoint, and the output before it, at this interval during the run")
      ->check(interval());
  auto* resume = run->add_option("--resume", t.run.resume_file,
                                 "continue from a checkpoint; an output file is truncated to that place and continued")
                     ->check(path());
  run->add_option("--resume-or-start", t.resume_or_start,
                  "resume from this file if it exists, else start at the beginning; with --checkpoint of the same name "
                  "one command line serves a job that is stopped and restarted")
      ->check(path())
      ->excludes(resume);
  run->add_flag("--new-output", t.run.new_output, "write the rest of a resumed run to a new output");
  run->add_option("--changed-inputs", t.run.changed_inputs,
                  "what a resumed run does if an input file has changed since the checkpoint")
      ->check(one_of({"refuse", "warn", "ignore", "grown"}))
      ->capture_default_str();
  add_identity_options(*run, t.run.identity);
  add_optimizer_options(*run, t.run.optimizer);
  auto* untuned = run->add_flag("--no-tune", t.run.is_untuned,
                                "use the knobs of the plan as they are; otherwise they are set from measured rates");
  run->add_option("--tuned-plan", t.run.tuned_plan_file,
                  "at the end write the plan with the values of its knobs to this file, for a later run with --file")
      ->check(path())
      ->excludes(untuned);
  add_report_options(*run, t.run.report, true);
  run->callback([&t, output] {
    t.verb = reading([&t, output] {
      t.run.is_output_named = output->count() != 0;
      t.run.output.plan = t.run.plan;
      t.run.starts_without_checkpoint = !t.resume_or_start.empty();
      if (t.run.starts_without_checkpoint) t.run.resume_file = t.resume_or_start;
      t.run.reading = t.reading;
      t.run.errors = t.errors;
      if (!t.shard_size.empty()) read_byte_size(t.shard_size, t.run.output.shard_bytes);
      if (!t.row_group_size.empty()) read_byte_size(t.row_group_size, t.run.output.row_group_bytes);
      if (!t.every.empty()) read_interval(t.every, t.run.every_elements, t.run.every);
      return cli::run(t.run);
    });
  });
}

void add_convert(CLI::App& app, typed& t) {
  convert_arguments& c = t.convert;
  auto* convert = app.add_subcommand(
      "convert", "convert files: TFRecords, CSV, JSON lines, Arrow, Parquet, Bagz, npy, lines of text");
  convert
      ->add_option(
          "FILES", c.inputs,
          "the inputs: files or patterns (or one plan); the last argument is the output. Names determine the formats: "
          ".tfrecord, .csv, .jsonl, .arrow, .parquet, .bagz, .npy, .txt, and .gz for gzip or .zst for zstd; inputs are "
          "also recognized by their contents")
      ->required();
  add_plugins(*convert, t);
  convert->add_option("--to", c.to, "the output's format; with it the output - is standard output")
      ->check(one_of({"jsonl", "csv", "raw", "lines", "tfrecord", "example", "arrow", "arrow-binary", "parquet", "bagz",
                      "array_record", "mds", "npy"}));
  add_output_options(*convert, t, c.run.output);
  convert->add_flag("--overwrite", c.overwrites, "replace an existing output; an input is never replaced");
  convert->add_option("--limit", c.run.limit, "end after this number of elements")->check(whole(0, kAny));
  add_reading(*convert, t);
  convert
      ->add_option("--checkpoint", c.run.checkpoint_file,
                   "write the progress to this file; the same command line continues from there")
      ->check(path());
  convert->add_option("--every", t.every, "write it at this interval during the run")->check(interval());
  add_report_options(*convert, c.run.report, true);
  convert->callback([&t, &c] {
    t.verb = reading([&t, &c] {
      c.format = t.format;
      c.run.reading = t.reading;
      c.run.errors = t.errors;
      if (!t.shard_size.empty()) read_byte_size(t.shard_size, c.run.output.shard_bytes);
      if (!t.row_group_size.empty()) read_byte_size(t.row_group_size, c.run.output.row_group_bytes);
      if (!t.every.empty()) read_interval(t.every, c.run.every_elements, c.run.every);
      return cli::convert(c);
    });
  });
}

/// Accepts the forms of head's --output.
CLI::Validator head_form() {
  auto check = [](const std::string& text) -> std::string {
    if (text == "table" || text == "jsonl" || text == "csv") return {};
    return absl::StrCat("expects table, jsonl or csv, and is \"", text, "\"");
  };
  return CLI::Validator(check, "{table,jsonl,csv}");
}

void add_readers(CLI::App& app, typed& t) {
  auto* head = app.add_subcommand(
      "head", "print the first elements of a plan or a file: as a table on a terminal, as JSON lines elsewhere");
  add_plan(*head, t, "PLAN_OR_FILE", t.head.plan, t.head.plan_file,
           "a plan, a file, a pattern of files (also s3://bucket/day-*/*.csv), or - for data on standard input");
  head->add_option("-n,--limit", t.head.elements, "the number of elements")
      ->check(whole(0, kAny))
      ->capture_default_str();
  head->add_option(
          "--output", t.head.output,
          "the form: table (long values are shortened), jsonl or csv; by default table on a terminal and jsonl "
          "elsewhere; head writes no files: sluice run and sluice convert do")
      ->check(head_form());
  head->add_flag("--raw", t.head.raw, "print records unchanged, even if they are tf.Examples");
#if SLUICE_HAVE_IMAGES
  head->add_option("--images", t.head.images_folder,
                   "write tensors that are images to this folder, as PNG, and print their paths")
      ->type_name("FOLDER")
      ->check(path());
#endif
  add_reading(*head, t);
  head->callback([&t] { t.verb = reading_as(t, t.head, cli::head); });

  auto* count = app.add_subcommand(
      "count", "print the number of elements of plans or files; payloads are read only if necessary");
  auto* counted = count->add_option(
      "PLANS_OR_FILES", t.count.plans_or_files,
      "plans, files, patterns of files (also s3://bucket/day-*/*.csv), or - for data on standard input");
  auto* plan_file = count->add_option("-f,--file", t.count.plan_file, "the plan is in this file; - for standard input");
  plan_file->check(path())->excludes(counted);
  add_plugins(*count, t);
  count->add_flag("--check,--read", t.count.reads,
                  "count by building every element, which finds damage, even if the plan has a known size");
  add_reading(*count, t);
  count->parse_complete_callback([&t] {
    if (t.count.plans_or_files.empty() && t.count.plan_file.empty())
      throw CLI::RequiredError("PLANS_OR_FILES or --file");
  });
  count->callback([&t] { t.verb = reading_as(t, t.count, cli::count); });

  auto* select = app.add_subcommand("select", "print some members of each element, as JSON lines");
  select
      ->add_option("NAMES", t.select.names,
                   "members of structures, pairs (first, second) and tuples (0, 1 …), columns of batches, features of "
                   "tf.Examples: "
                   "a,b,second.label")
      ->required();
  add_plan(*select, t, "PLAN_OR_FILE", t.select.plan_or_file, t.select.plan_file,
           "a plan, a file, or - for data on standard input");
  select->add_option("--limit", t.select.limit, "end after this number of elements")->check(whole(0, kAny));
  add_reading(*select, t);
  select->callback([&t] { t.verb = reading_as(t, t.select, cli::select); });

  auto* cat = app.add_subcommand("cat",
                                 "print the contents of files, as JSON lines: tf.Examples by name, rows, lines, "
                                 "members; bytes that are not UTF-8 as "
                                 "{\"base64\":\"…\"}, names as \"base64:…\"");
  cat->add_option(
         "FILES", t.cat.files,
         "TFRecords, CSV, JSON lines, Arrow, npy, npz, tar, zip, lines of text; compressed, too; or patterns of them")
      ->required();
  add_reading(*cat, t);
  cat->callback([&t] { t.verb = reading_as(t, t.cat, cli::cat); });

  auto* verify = app.add_subcommand(
      "verify",
      "read files to their ends and check them: every CRC of TFRecords, zip and compressed files, every header of tar "
      "and its end, that lines are JSON, that rows of CSV have as many fields as the first, that an npy file has the "
      "declared length; exit status 0: sound, 1: damaged, 2: none damaged, but some of a format that is "
      "not read; 1 also if a file is missing, and nothing else is wrong");
  verify->add_option("FILES", t.verify.files, "files of every format, or patterns of them, read at once on all workers")
      ->required();
  verify->add_option("--compression", t.compression, "the files' compression")
      ->check(one_of({"automatic", "none", "gzip", "zlib", "zstd", "lz4", "snappy", "snappy_blocks", "bzip2", "xz"}))
      ->capture_default_str();
  add_format_options(*verify, t.format);
  add_reading_options(*verify, t.reading);
  verify->callback([&t] {
    const result<compression> parsed = parse_compression(t.compression);
    t.verify.compression = parsed.ok() ? *parsed : compression::automatic;
    t.verb = reading_as(t, t.verify, cli::verify);
  });
}

void add_explain(CLI::App& app, typed& t) {
  auto* explain = app.add_subcommand(
      "explain", "print a plan as it runs: types, sizes, options, the rules that rewrote it, and what they left");
  add_plan(*explain, t, "PLAN", t.explain.plan, t.explain.plan_file, "the plan; or a file, whose plan is printed");
  add_format_options(*explain, t.format);
  add_attempts_option(*explain);
  add_transport_option(*explain);
  add_optimizer_options(*explain, t.explain.rules);
  std::vector<CLI::Option*> forms;
  auto add_form = [&](const char* name, explained what, const char* description) {
    auto* form = explain->add_flag_callback(name, [&t, what] { t.explain.what = what; }, description);
    for (CLI::Option* other : forms) form->excludes(other);
    forms.push_back(form);
  };
  add_form("--written", explained::written, "print the plan as it is written");
  add_form("--diff", explained::diff, "print the plan with the stages that rules have removed (-) and added (+)");
  add_form("--rules", explained::rules, "list the rules in the order in which they are applied; needs no PLAN");
  add_form("--spec", explained::spec, "print dtypes and partial shapes");
  add_form("--facts", explained::facts,
           "print the facts of each stage as written: outputs per input, order, errors, members read");
  add_form("--splits", explained::splits,
           "print for each stage as written whether it runs on workers or in the client, if the plan is split");
  add_form("--json", explained::json, "print the plan as written, as JSON");
  add_form("--explain-json", explained::optimized,
           "print the plan as written and as it runs, the rules, and what they left, as JSON");
  explain->parse_complete_callback([&t, explain] {
    if (t.explain.what != explained::rules && explain->count("PLAN") == 0 && explain->count("--file") == 0)
      throw CLI::RequiredError("PLAN or --file");
  });
  explain->callback([&t] {
    t.verb = [&t] {
      t.explain.format = t.format;
      return cli::explain(t.explain);
    };
  });
}

void add_others(CLI::App& app, typed& t) {
  add_explain(app, t);

  auto* ops = app.add_subcommand("ops", "list the operators");
  add_plugins(*ops, t);
  ops->callback([&t] { t.verb = [] { return cli::ops(); }; });

  auto* completion =
      app.add_subcommand("completion", "print a script that completes this program's arguments in a shell");
  completion->add_option("SHELL", t.shell, "bash, zsh or fish")->required()->check(one_of({"bash", "zsh", "fish"}));
  completion->callback([&app, &t] {
    t.verb = [&app, &t] {
      std::fputs(completion_script(app, t.shell).c_str(), stdout);
      return kOk;
    };
  });

  auto* sample = app.add_subcommand("sample", "write sample data: TFRecord shards of tf.Examples");
  sample->add_option("FOLDER", t.folder, "the folder to write to")->capture_default_str();
  sample->add_option("--records", t.sample.records, "the number of records in all files")
      ->check(whole(0, kRecordsMax))
      ->capture_default_str();
  sample->add_option("--shards", t.sample.shards, "the number of files")->check(whole(1, 99999))->capture_default_str();
  sample->add_option("--seed", t.sample.seed, "the seed of the random values")
      ->check(whole(0, kAny))
      ->capture_default_str();
  sample->callback([&t] { t.verb = [&t] { return cli::sample(t.folder, t.sample); }; });
}

int complain(const std::string& words, int exit_status) {
  print_error(words);
  return exit_status;
}

}  // namespace

int run_command_line(int argc, char** argv) {
  open_standard_files();
  make_standard_output_wait();
  std::signal(SIGXFSZ, SIG_IGN);  // write() reports a file that may not grow, with its name
  std::signal(SIGPIPE, SIG_IGN);  // write() reports a reader that has left, and the program then ends quietly
  typed t;
  CLI::App app("sluice: pipelines from files to ready elements", "sluice");
  app.set_version_flag("--version", "sluice " SLUICE_VERSION_STRING);
  app.require_subcommand(0, 1);  // without a verb, the program lists the verbs
  add_run(app, t);
  add_convert(app, t);
  add_readers(app, t);
  std::function<int()> file_verb;
  add_file_verbs(app, t.reading, file_verb);
  add_program_verbs(app, t.verb);
  add_describe(app, t.reading, t.errors, file_verb);
  add_others(app, t);
  add_index(app, t.reading, t.format, file_verb);
  add_splits(app, t.reading, file_verb);
  add_service(app, t.reading, file_verb);
  for (const char* verb : {"dispatcher", "worker", "register"}) add_plugins(*app.get_subcommand(verb), t);
  add_help(app);
  const std::vector<std::string> arguments = with_report_form(usual_arguments(argc, argv));
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // CLI11 takes them from the end
  } catch (const CLI::Success& asked) {                                         // --help, --version
    if (auto extra = app.remaining(); !extra.empty())
      return complain(message_of_mistake(app, extra, CLI::ExtrasError(extra)), kMisuse);
    std::ostringstream out, err;
    int status = app.exit(asked, out, err);
    std::fputs(out.str().c_str(), stdout);
    return checked_output(status);
  } catch (const CLI::ParseError& e) { return complain(message_of_mistake(app, arguments, e), kMisuse); }
  for (const CLI::App* verb : app.get_subcommands()) t.format.verb = verb->get_name();
  note_typed_format(!t.format.from.empty());
  if (file_verb) t.verb = reading(std::move(file_verb));
  if (!t.verb)
    return complain(absl::StrCat("a verb is needed, as in: sluice head people.csv; the verbs are ", list_of_verbs(),
                                 "; sluice --help describes them"),
                    kMisuse);
  try {
    register_libraries();
    use_chosen_transport();
    load_plugins(t.plugins);
    const plan_files known(add_remote_files, t.reading.io_timeout);
    return checked_output(t.verb());
  } catch (const std::exception&) { return report_exception(); }
}

}  // namespace sluice::lib::cli
