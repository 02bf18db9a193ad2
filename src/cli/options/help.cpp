// SPDX-License-Identifier: Apache-2.0
#include "cli/options/help.hpp"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/messages/text_layout.hpp"
#include "sluice/base/assert.hpp"

namespace sluice::lib::cli {
namespace {

constexpr const char* kLookGroup = "Look at data";
constexpr const char* kProcessGroup = "Process data";
constexpr const char* kServiceGroup = "Several machines";
constexpr const char* kProgramGroup = "This program";
/// In the order in which they are printed.
constexpr const char* kVerbGroups[] = {kLookGroup, kProcessGroup, kServiceGroup, kProgramGroup};

struct verb_help {
  std::string_view name, group, summary;
  std::string_view examples[3];
};
constexpr verb_help kVerbHelps[] = {
    {"head",
     kLookGroup,
     "the first elements of a file or a plan, as a table",
     {"sluice head people.csv", "sluice head -n 3 's3://bucket/day-*/part-*.jsonl' --output jsonl",
      "sluice head 'csv(\"people.csv\", header=true) | filter(age > 30)'"}},
    {"cat",
     kLookGroup,
     "all elements of files, as JSON lines",
     {"sluice cat data.tfrecord", "sluice cat 'logs/*.jsonl.gz' | grep error",
      "curl -s https://example.org/a.csv | sluice cat - --from csv"}},
    {"select",
     kLookGroup,
     "some members of each element",
     {"sluice select id,city people.csv", "sluice select label,text data.tfrecord --limit 3",
      "sluice select second.label 'zip(range(3), tfrecord(\"a.tfrecord\"))'"}},
    {"describe",
     kLookGroup,
     "columns, types, missing values, minima and maxima",
     {"sluice describe people.csv", "sluice describe 'jsonl(\"a.jsonl\") | filter(ok)'",
      "sluice describe - < people.csv"}},
    {"count",
     kLookGroup,
     "the number of elements",
     {"sluice count people.csv", "sluice count 'data/*.tfrecord'",
      "sluice count 'lines(\"log.txt\") | filter(contains(it, \"error\"))'"}},
    {"verify",
     kLookGroup,
     "check files for damage",
     {"sluice verify data.tfrecord", "sluice verify 'data/**'",
      "sluice verify backup.bin --from tar --compression zstd"}},
    {"index",
     kProcessGroup,
     "build indexes, by which readers skip elements",
     {"sluice index train.tfrecord", "sluice index 'data/*.jsonl'", "sluice index people.csv --delimiter ';'"}},
    {"ls",
     kLookGroup,
     "list files, local and remote",
     {"sluice ls 'data/**/*.tfrecord'", "sluice ls s3://bucket/day-1/", "sluice ls --json 'gs://bucket/*.csv'"}},
    {"run",
     kProcessGroup,
     "stream a plan, and write its elements",
     {"sluice run 'jsonl(\"a.jsonl\") | filter(n > 3)' --output jsonl",
      "sluice run 'csv(\"a.csv\", header=true) | top(10, by=score)' --output b.csv",
      "sluice run -f plan.txt --output out.arrow --checkpoint job.ckpt --every 1m"}},
    {"convert",
     kProcessGroup,
     "convert files to another format",
     {"sluice convert people.csv people.jsonl.gz",
      "sluice convert 'part-*.tfrecord' all.csv --schema \"text: bytes, label: int64\"",
      "sluice convert big.arrow small.tfrecord --limit 1000 --shards 4"}},
    {"cp",
     kProcessGroup,
     "copy files between file systems",
     {"sluice cp https://example.org/a.tfrecord data/", "sluice cp 'data/**/*.csv' copy/ --verify",
      "sluice cp - s3://bucket/log.txt < log.txt"}},
    {"explain",
     kProcessGroup,
     "a plan as it runs: types, sizes, options, rules",
     {"sluice explain 'range(10) | shuffle(5, seed=7) | batch(4)'",
      "sluice explain --spec 'csv(\"people.csv\", header=true) | batch(32)'", "sluice explain --json -f plan.txt"}},
    {"splits",
     kProcessGroup,
     "how a plan is divided among workers",
     {"sluice splits 'range(100) | shuffle(10) | batch(4)' --splits 4",
      "sluice splits 'tfrecord(\"data/*.tfrecord\") | batch(32)' --split-bytes 64MiB",
      "sluice splits --json -f plan.txt"}},
    {"cache",
     kProcessGroup,
     "look at the file of a cache, or remove it",
     {"sluice cache show train.cache", "sluice cache verify train.cache", "sluice cache drop train.cache"}},
    {"checkpoint",
     kProcessGroup,
     "show checkpoints, compare them, or change the number of consumers",
     {"sluice checkpoint show job.ckpt --plan 'range(10) | batch(4)'", "sluice checkpoint diff a.ckpt b.ckpt",
      "sluice checkpoint reshard *.ckpt --plan \"$PLAN\" --to 3 -o next"}},
    {"compare",
     kProcessGroup,
     "find the first element in which two outputs or plans differ",
     {"sluice compare a.jsonl b.csv", "sluice compare out/ again/",
      "sluice compare 'range(9) | shuffle(3)' 'range(9)' --seed 7"}},
    {"replay",
     kProcessGroup,
     "make a dropped bad element again, step by step",
     {"sluice replay bad.jsonl#0", "sluice replay 'bad.tfrecord#12' --plan \"$PLAN\"",
      "sluice replay bad.jsonl#3 --rebase /mnt/old=/mnt/new"}},
    {"ops",
     kProcessGroup,
     "list the operators and functions of plans",
     {"sluice ops", "sluice ops | grep -A 1 '^batch'", "sluice ops --plugin ./libmine.so"}},
    {"dispatcher",
     kServiceGroup,
     "divide plans among workers, for distribute(\"ADDRESS\")",
     {"sluice dispatcher --listen 127.0.0.1:7700", "sluice dispatcher --listen 0.0.0.0:7700 --store sqlite:meta.db",
      "sluice dispatcher --listen 127.0.0.1:7700 --plugin ./libmine.so"}},
    {"worker",
     kServiceGroup,
     "run splits for a dispatcher",
     {"sluice worker --dispatcher 127.0.0.1:7700",
      "sluice worker --dispatcher a:7700 --listen 0.0.0.0:0 --address b:%port%",
      "sluice worker --dispatcher 127.0.0.1:7700 --plugin ./libmine.so"}},
    {"status",
     kServiceGroup,
     "workers, jobs, and splits in flight of a dispatcher",
     {"sluice status 127.0.0.1:7700", "sluice status 127.0.0.1:7700 --watch", "sluice status 127.0.0.1:7700 --json"}},
    {"register",
     kServiceGroup,
     "give a plan to a dispatcher under an id",
     {"sluice register 'csv(\"people.csv\") | filter(age > 30)' --dispatcher a:7700",
      "sluice register -f train.plan --dispatcher a:7700 --dataset-id train-v3",
      "sluice run 'from_dataset_id(\"a:7700\", \"train-v3\") | batch(64)' --output jsonl"}},
    {"sample",
     kProgramGroup,
     "write sample data: TFRecords of tf.Examples",
     {"sluice sample", "sluice sample demo --records 10000 --shards 4",
      "sluice sample demo --records 10000 --shards 4 --seed 7"}},
    {"doctor",
     kProgramGroup,
     "the abilities of this machine and this build",
     {"sluice doctor", "SLUICE_IO=threads sluice doctor", "sluice doctor | grep -A 9 'possible improvements'"}},
    {"top",
     kProgramGroup,
     "the report of a run with --serve, again each second",
     {"sluice top 127.0.0.1:9464", "sluice top :9464 --once", "sluice top http://127.0.0.1:9464/"}},
    {"completion",
     kProgramGroup,
     "a script that completes arguments in a shell",
     {"source <(sluice completion bash)", "source <(sluice completion zsh)",
      "sluice completion fish > ~/.config/fish/completions/sluice.fish"}},
    {"man",
     kProgramGroup,
     "the manual page",
     {"sluice man | man -l -", "sluice man > sluice.1", "sluice man | groff -man -Tpdf > sluice.pdf"}}};

struct option_group {
  const char* group;
  std::string_view names;  ///< separated by blanks, with a blank at both ends
};
/// In the order in which they are printed. Other options belong to "Options", which comes first.
constexpr option_group kOptionGroups[] = {
    {"Plan", " --file --plugin --no-optimize --rule --trust "},
    {"Input", " --from --schema --delimiter --no-header --escape --infer "},
    {"Output",
     " --output --to --compression --shards --shard-size --row-group-size --overwrite --new-output --images --raw "
     "--json "},
    {"Splits", " --splits --split-bytes --split-elements --visitation --round "},
    {"Bad elements", " --on-error --errors-max --quarantine "},
    {"Resuming", " --checkpoint --every --resume --resume-or-start --changed-inputs --identity --rebase "},
    {"Reports",
     " --quiet --progress --progress-every --report --report-every --order-fingerprint --stages --html --serve --trace "
     "--trace-events "},
    {"Resources", " --memory-budget --workers --io --io-timeout --attempts --transport "}};
constexpr const char* kDefaultGroup = "Options";

std::string group_of(const CLI::Option& o) {
  for (const std::string& name : o.get_lnames())
    for (const option_group& g : kOptionGroups)
      if (g.names.find(absl::StrCat(" --", name, " ")) != std::string_view::npos) return g.group;
  return kDefaultGroup;
}

/// The values that an option accepts, if they are few: "TEXT:{a,b}" is "a, b".
std::string choices_of(const std::string& type) {
  const std::size_t begin = type.find('{'), end = type.find('}');
  if (begin == type.npos || end == type.npos || end + 1 != type.size()) return {};
  return absl::StrReplaceAll(type.substr(begin + 1, end - begin - 1), {{",", ", "}});
}

/// Returns "-n, --limit N".
std::string entry_name(const CLI::Option& o) {
  if (o.get_positional()) return absl::StrCat(o.get_name(true), o.get_items_expected_max() > 1 ? " ..." : "");
  std::string text = o.get_snames().empty() ? "    " : "";
  for (const std::string& name : o.get_snames()) absl::StrAppend(&text, "-", name, o.get_lnames().empty() ? "" : ", ");
  for (std::size_t i = 0; i != o.get_lnames().size(); ++i)
    absl::StrAppend(&text, i == 0 ? "--" : ", --", o.get_lnames()[i]);
  if (o.get_items_expected_max() == 0) return text;
  std::string type = o.get_type_name();
  if (!choices_of(type).empty()) return text + " NAME";
  if (type.find('{') != type.npos) return text + " POLICY";
  // "UINT:N" is the C++ type and the validator's name.
  if (const std::size_t colon = type.find(':'); colon != type.npos) type.erase(0, colon + 1);
  return absl::StrCat(text, " ", type);
}

/// The lines of one option or verb: the name, and beside it the description.
void add_entry(const std::string& name, const std::string& what, std::size_t columns, std::string& out) {
  const std::size_t indent = columns < 60 ? 8 : 26;
  std::string line = "  " + name;
  if (display_width(line) + 2 > indent) line += "\n" + std::string(indent, ' ');
  else line.append(indent - display_width(line), ' ');
  absl::StrAppend(&out, line, wrapped(what, columns, indent, indent), "\n");
}

std::string entry_text(const CLI::Option& o) {
  if (o.get_name() == "--help") return "print this help";
  std::string text = o.get_description();
  const std::string choices = choices_of(o.get_type_name());
  const bool lists_them = text.find(choices.substr(0, choices.find(',')) + ":") == 0;
  if (!choices.empty() && !o.get_positional() && !lists_them) absl::StrAppend(&text, "; one of ", choices);
  if (!o.get_default_str().empty()) absl::StrAppend(&text, " (default ", o.get_default_str(), ")");
  return text;
}

const verb_help* help_of(std::string_view verb) {
  for (const verb_help& v : kVerbHelps)
    if (v.name == verb) return &v;
  return nullptr;
}

std::string help_of_program(const CLI::App& app, std::size_t columns) {
  std::string out = absl::StrCat("Usage: sluice VERB [OPTIONS] ARGUMENTS\n\n",
                                 wrapped("Streams files, objects and generators, described by plans: "
                                         "'SOURCE | STAGE | STAGE'.",
                                         columns, 0, 0),
                                 "\n");
  for (const char* group : kVerbGroups) {
    absl::StrAppend(&out, "\n", group, ":\n");
    for (const verb_help& v : kVerbHelps)
      if (v.group == group) add_entry(std::string(v.name), std::string(v.summary), columns, out);
  }
  absl::StrAppend(&out, "\n", kDefaultGroup, ":\n");
  add_entry("-h, --help", "print this help; after a verb, that of the verb", columns, out);
  add_entry("    --version", "print the version", columns, out);
  return absl::StrCat(out, "\n", app.get_footer(), "\n");
}

std::string usage_of(const CLI::App& verb, std::size_t columns) {
  std::string usage = absl::StrCat("Usage: sluice ", verb.get_name(), " [OPTIONS]");
  for (const CLI::Option* o : verb.get_options([](const CLI::Option* one) { return one->get_positional(); }))
    absl::StrAppend(&usage, " ", o->get_required() ? entry_name(*o) : absl::StrCat("[", entry_name(*o), "]"));
  return wrapped(usage, columns, 8, 0);
}

std::string help_of_verb(const CLI::App& verb, std::size_t columns) {
  std::string what = verb.get_description();
  if (!what.empty() && what[0] >= 'a' && what[0] <= 'z') what[0] = static_cast<char>(what[0] - 'a' + 'A');
  std::string out = absl::StrCat(usage_of(verb, columns), "\n\n", wrapped(what + ".", columns, 0, 0), "\n");
  auto add_group = [&](const std::string& title, const auto& is_in) {
    const auto options = verb.get_options(is_in);
    if (options.empty()) return;
    absl::StrAppend(&out, "\n", title, ":\n");
    for (const CLI::Option* o : options) add_entry(entry_name(*o), entry_text(*o), columns, out);
  };
  add_group("Arguments", [](const CLI::Option* o) { return o->get_positional(); });
  auto in = [](const char* group) {
    return [group](const CLI::Option* o) {
      return !o->get_positional() && !o->get_group().empty() && group_of(*o) == group;
    };
  };
  add_group(kDefaultGroup, in(kDefaultGroup));
  for (const option_group& g : kOptionGroups) add_group(g.group, in(g.group));
  return absl::StrCat(out, "\n", verb.get_footer(), "\n");
}

std::string footer_of(const verb_help& v) {
  std::string text = "Examples:";
  for (std::string_view example : v.examples) absl::StrAppend(&text, "\n  ", std::string(example));
  return text;
}

}  // namespace

std::string example_of(const std::string& verb) {
  const verb_help* v = help_of(verb);
  return v ? std::string(v->examples[0]) : std::string();
}

std::string list_of_verbs() {
  std::string all;
  for (const char* group : kVerbGroups)
    for (const verb_help& v : kVerbHelps)
      if (v.group == group) absl::StrAppend(&all, all.empty() ? "" : ", ", std::string(v.name));
  return all;
}

void add_help(CLI::App& app) {
  auto formatter = std::make_shared<CLI::FormatterLambda>([](const CLI::App* of, std::string, CLI::AppFormatMode) {
    const std::size_t columns = terminal_columns(STDOUT_FILENO);
    return of->get_parent() ? help_of_verb(*of, columns) : help_of_program(*of, columns);
  });
  app.formatter(formatter);
  app.footer(
      "Examples:\n"
      "  sluice head people.csv\n"
      "  sluice run 'csv(\"people.csv\", header=true) | filter(age > 30)' --output jsonl\n"
      "  sluice convert data.tfrecord data.csv\n\n"
      "Exit status: 0 success, 1 data or files failed, 2 arguments are wrong,\n"
      "75 a server did not answer (try again), 128 + n ended by signal n.\n"
      "The manual page: sluice man | man -l -");
  for (CLI::App* verb : app.get_subcommands([](CLI::App*) { return true; })) {
    verb->formatter(formatter);
    const verb_help* v = help_of(verb->get_name());
    SLUICE_REQUIRES(v != nullptr, "the table of the help lacks a verb");
    if (v) verb->group(std::string(v->group))->footer(footer_of(*v));
    for (CLI::Option* o : verb->get_options([](CLI::Option*) { return true; }))
      if (!o->get_positional() && !o->get_group().empty()) o->group(group_of(*o));
  }
}

}  // namespace sluice::lib::cli
