// SPDX-License-Identifier: Apache-2.0
// The program's verbs as plain functions, each in its own source. command_line.cpp reads their arguments.
//
// Each returns the exit status (cli/messages/exit_status.hpp). Errors: thrown `error` (printed as one line, exit kFailed or
// kUnavailable) and `misuse` (exit kMisuse).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/inputs/format_options.hpp"
#include "cli/inputs/reading.hpp"
#include "cli/options/identity_options.hpp"
#include "cli/reports/report_options.hpp"
#include "cli/sinks/output_choice.hpp"
#include "sluice/base/field_types.hpp"
#include "sluice/format/sample_records.hpp"

namespace sluice::lib::cli {

class watch;        // cli/reports/watch.hpp
struct run_record;  // cli/reports/run_record.hpp

inline constexpr int kOk = 0;
inline constexpr int kFailed = 1;        ///< an error of the data, a file, or a stage
inline constexpr int kMisuse = 2;        ///< an error of the arguments
inline constexpr int kUnavailable = 75;  ///< a server, or a file that another process writes; try again

/// The arguments request something that does not exist. The text may continue on further lines.
class misuse : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct run_arguments {
  std::string plan;
  std::string plan_file;  ///< if not empty, the file that contains the plan
  output_arguments output{};
  bool is_output_named = false;  ///< --output was typed
  bool new_output = false;       ///< a resumed run begins a new output
  std::optional<std::uint64_t> limit = {};
  std::optional<std::uint64_t> seed = {};
  std::optional<std::uint64_t> epoch = {};
  reading_arguments reading = {};
  error_arguments errors = {};
  optimizer_arguments optimizer = {};
  bool is_untuned = false;           ///< the tuner is off
  std::string tuned_plan_file = {};  ///< the plan with the tuner's values is written to it; empty: nowhere
  std::string checkpoint_file = {}, resume_file = {};
  bool starts_without_checkpoint = false;  ///< a missing resume_file is not an error
  std::uint64_t every_elements = 0;        ///< the interval of checkpoints during the run; 0: only at the end
  std::chrono::nanoseconds every{0};
  std::string changed_inputs = "refuse";  ///< refuse, warn, ignore, grown
  identity_arguments identity = {};
  report_arguments report = {};
};
/// Returns 129 after SIGHUP, 130 after SIGINT, 143 after SIGTERM. A signal that comes before the run has opened its
/// outputs ends the program with that status.
int run(const run_arguments& arguments);
/// The same, for a caller whose own work before the run can be interrupted too, and which prints the report.
int run(const run_arguments& arguments, watch& interrupts, run_record& record);

struct convert_arguments {
  std::vector<std::string> inputs;  ///< files, or one plan; the last is the output
  format_arguments format = {};     ///< of the inputs
  std::string to = {};              ///< the output's format; empty: by its name
  bool overwrites = false;
  run_arguments run = {};  ///< the run's options, and its output except the path
};
/// Converts files of one format to another format.
int convert(convert_arguments arguments);

struct head_arguments {
  std::string plan;       ///< or a file, a FIFO, "-"
  std::string plan_file;  ///< if not empty, the file that contains the plan
  std::uint64_t elements = 10;
  bool raw = false;  ///< prints tf.Examples as plain records, too
  format_arguments format = {};
  reading_arguments reading = {};
  error_arguments errors = {};
  std::string images_folder = {};  ///< the folder for tensors that are images, as PNG; empty: they are printed
  std::string output = {};         ///< table, jsonl or csv; empty: table on a terminal, else jsonl
};
/// Prints the first elements of a plan or a file.
int head(const head_arguments& arguments);

struct count_arguments {
  std::vector<std::string> plans_or_files;
  std::string plan_file;
  bool reads = false;  ///< reads the elements even if the plan has a known size
  format_arguments format = {};
  reading_arguments reading = {};
  error_arguments errors = {};
};
/// Prints the number of elements of plans or files.
int count(const count_arguments& arguments);

struct index_arguments {
  std::vector<std::string> files;
  std::uint64_t every = 0;  ///< the number of elements between two places; 0: chosen
  format_arguments format = {};
  reading_arguments reading = {};
};
/// Builds the indexes of files.
int index(const index_arguments& arguments);

struct select_arguments {
  std::string names;
  std::string plan_or_file;
  std::string plan_file;
  std::uint64_t limit = ~std::uint64_t{0};
  format_arguments format = {};
  reading_arguments reading = {};
  error_arguments errors = {};
};
/// Prints members of structures, columns of batches or features of tf.Examples, as JSON lines.
int select(const select_arguments& arguments);

struct cat_arguments {
  std::vector<std::string> files;
  format_arguments format = {};
  reading_arguments reading = {};
  error_arguments errors = {};
};
/// Prints the contents of files as JSON lines: tf.Examples by name, and the elements of files of every other format.
int cat(const cat_arguments& arguments);

struct verify_arguments {
  std::vector<std::string> files;
  format_arguments format = {};
  sluice::lib::compression compression = compression::automatic;
  reading_arguments reading = {};
};
/// Reads files to their ends, and makes the checks that their formats allow. kFailed: at least one file is damaged; else
/// kMisuse: at least one has a format that is not read; else kFailed: at least one cannot be opened; else kUnavailable.
int verify(const verify_arguments& arguments);
/// stages: as the plan runs; written: as it is written; diff: both; optimized: as it runs, as JSON;
/// splits: where each stage runs if the plan is split.
enum class explained : std::uint8_t { stages, written, diff, facts, spec, json, optimized, rules, splits };
struct explain_arguments {
  std::string plan;       ///< or a file
  std::string plan_file;  ///< if not empty, the file that contains the plan
  explained what = explained::stages;
  optimizer_arguments rules = {};
  format_arguments format = {};  ///< of a file
};
int explain(const explain_arguments& arguments);

struct ls_arguments {
  std::vector<std::string> patterns;
  bool as_json = false;
  reading_arguments reading = {};
};
/// Lists the files that patterns match, each with its size and modification time. For a folder, lists its contents.
int ls(const ls_arguments& arguments);

struct cp_arguments {
  std::vector<std::string> paths;  ///< the sources, and the destination at the end
  bool overwrites = false;
  bool verifies = false;  ///< reads the copies again and compares them
  bool quiet = false;     ///< prints no progress line and no report
  reading_arguments reading = {};
};
/// Copies files between any file systems.
int cp(const cp_arguments& arguments);
int ops();
/// Prints the report of the run that `sluice run --serve` shows at this address; on a terminal again each second, until it
/// ends.
int top(const std::string& address, bool is_once);
/// Prints the features of this machine and this build that the program uses. kFailed: files cannot be read in the way
/// that SLUICE_IO requests.
int doctor();
int sample(const std::string& folder, const sample_options& options);

}  // namespace sluice::lib::cli
