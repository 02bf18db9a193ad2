// SPDX-License-Identifier: Apache-2.0
// The program's verbs, each in a source of its own, as plain functions: command_line.cpp reads the arguments.
//
// Each returns the exit status. Errors: thrown `error` (printed as one line, exit kFailed) and `misuse` (exit kMisuse).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/inputs/reading.hpp"
#include "cli/sinks/output_choice.hpp"
#include "sluice/base/field_types.hpp"
#include "sluice/format/sample_records.hpp"

namespace sluice::lib::cli {

inline constexpr int kOk = 0;
inline constexpr int kFailed = 1;  ///< the data, a file, a stage
inline constexpr int kMisuse = 2;  ///< the arguments

/// The arguments ask for something that does not exist. The text may continue on lines of its own.
class misuse : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct run_arguments {
  std::string plan;
  std::string plan_file;  ///< where it is not empty, the plan is there
  output_arguments output{};
  bool is_output_named = false;  ///< --output was typed
  bool new_output = false;       ///< a resumed run begins an output of its own
  std::optional<std::uint64_t> limit = {};
  std::optional<std::uint64_t> seed = {};
  std::optional<std::uint64_t> epoch = {};
  reading_arguments reading = {};
  error_arguments errors = {};
  std::string checkpoint_file = {}, resume_file = {};
  bool starts_without_checkpoint = false;  ///< a resume_file that is not there is no error
  std::uint64_t every_elements = 0;        ///< a checkpoint so often while it runs; 0: only at the end
  std::chrono::nanoseconds every{0};
  std::string changed_inputs = "refuse";  ///< refuse, warn, ignore
  bool quiet = false;                     ///< no progress, no report
  bool shows_stages = false;              ///< what each stage did, at the end
};
/// 129 after SIGHUP, 130 after SIGINT, 143 after SIGTERM.
int run(const run_arguments& arguments);

struct convert_arguments {
  std::vector<std::string> inputs;  ///< files, or one plan; the last is the output
  std::string from = {}, to = {};   ///< formats; empty: by the names
  std::string schema = {};          ///< of what is read
  bool overwrites = false;
  run_arguments run = {};  ///< how it runs, and its output but for the path
};
/// Files of one format into files of another one.
int convert(convert_arguments arguments);

struct head_arguments {
  std::string plan;       ///< or a file, a FIFO, "-"
  std::string plan_file;  ///< where it is not empty, the plan is there
  std::uint64_t elements = 10;
  bool raw = false;  ///< records as they are, also where they are tf.Examples
  reading_arguments reading = {};
  error_arguments errors = {};
  std::string images_folder = {};  ///< where tensors that are images are written as PNG; empty: they are printed
};
/// The first elements of a plan or a file, as JSON lines.
int head(const head_arguments& arguments);

struct count_arguments {
  std::vector<std::string> plans_or_files;
  std::string plan_file;
  bool reads = false;  ///< also where the plan itself says how many
  reading_arguments reading = {};
  error_arguments errors = {};
};
/// How many elements plans give, or files hold.
int count(const count_arguments& arguments);

struct select_arguments {
  std::string names;
  std::string plan_or_file;
  std::string plan_file;
  std::uint64_t limit = ~std::uint64_t{0};
  reading_arguments reading = {};
  error_arguments errors = {};
};
/// Members of structures, columns of batches or features of tf.Examples, as JSON lines.
int select(const select_arguments& arguments);

struct cat_arguments {
  std::vector<std::string> files;
  std::string from = {};  ///< the files' format; empty: by their names and contents
  reading_arguments reading = {};
  error_arguments errors = {};
};
/// Prints the contents of files as JSON lines: tf.Examples by name, and the elements of files of every other format.
int cat(const cat_arguments& arguments);

struct verify_arguments {
  std::vector<std::string> files;
  std::string from = {};  ///< the files' format; empty: by their names and contents
  sluice::lib::compression compression = compression::automatic;
  reading_arguments reading = {};
};
/// Reads files to their ends, and checks what their formats let be checked. kFailed: at least one file is damaged; else
/// kMisuse: at least one is no file that can be opened.
int verify(const verify_arguments& arguments);
enum class explained : std::uint8_t { stages, spec, json };
int explain(const std::string& plan, const std::string& plan_file, explained what);

struct ls_arguments {
  std::vector<std::string> patterns;
  bool as_json = false;
  reading_arguments reading = {};
};
/// The files that patterns match, each with its size and when it was changed. A folder: what is in it.
int ls(const ls_arguments& arguments);

struct cp_arguments {
  std::vector<std::string> paths;  ///< what is copied, and at the end where to
  bool overwrites = false;
  bool verifies = false;  ///< copies are read again, and compared
  bool quiet = false;     ///< no progress line and no report
  reading_arguments reading = {};
};
/// Copies files from any file system to any other.
int cp(const cp_arguments& arguments);
int ops();
/// Prints the features of this machine and this build that the program uses. kFailed: files cannot be read as SLUICE_IO
/// says.
int doctor();
int sample(const std::string& folder, const sample_options& options);

}  // namespace sluice::lib::cli
