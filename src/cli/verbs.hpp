// SPDX-License-Identifier: Apache-2.0
// The program's verbs, each in a source of its own, as plain functions: command_line.cpp reads the arguments.
//
// Each returns the exit status. Errors: thrown `error` (told as one line, exit kFailed) and `misuse` (exit kMisuse).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/output_choice.hpp"
#include "sluice/base/field_types.hpp"
#include "sluice/format/sample.hpp"

namespace sluice::lib::cli {

inline constexpr int kOk = 0;
inline constexpr int kFailed = 1;  ///< the data, a file, a stage
inline constexpr int kMisuse = 2;  ///< the arguments

/// What the arguments ask for does not exist. The text may go on over lines of its own.
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
  std::int64_t memory_budget_bytes = 0;
  unsigned workers = 0;
  std::string io = {};
  std::chrono::nanoseconds io_timeout{0};  ///< 0: none
  bool skip_errors = false;
  std::string quarantine = {};                   ///< the file that keeps what is dropped; empty: none
  std::optional<std::uint64_t> errors_max = {};  ///< dropped by all stages together: one more ends the run
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
  bool raw = false;                ///< records as they are, also where they are tf.Examples
  std::string images_folder = {};  ///< where tensors that are images are written as PNG; empty: they are printed
};
/// The first elements of a plan or a file, as JSON lines.
int head(const head_arguments& arguments);
/// How many elements plans give, or files hold. `reads`: also where the plan itself says how many.
int count(const std::vector<std::string>& plans_or_files, const std::string& plan_file, bool reads);
/// Members of structures, columns of batches or features of tf.Examples, as JSON lines.
int select(const std::string& names, const std::string& plan_or_file, const std::string& plan_file,
           std::uint64_t limit);
/// The tf.Examples of TFRecord files, as JSON lines.
int cat(const std::vector<std::string>& files);
/// Checks every CRC. kFailed: at least one file is damaged; else kMisuse: at least one is no file that can be opened.
int verify(const std::vector<std::string>& files, compression c);
enum class explained : std::uint8_t { stages, spec, json };
int explain(const std::string& plan, const std::string& plan_file, explained what);
/// The files that patterns match, each with its size and when it was changed. A folder: what is in it.
int ls(const std::vector<std::string>& patterns, bool as_json);

struct cp_arguments {
  std::vector<std::string> paths;  ///< what is copied, and at the end where to
  bool overwrites = false;
  bool verifies = false;  ///< copies are read again, and compared
  bool quiet = false;     ///< no progress line and no report
};
/// Copies files from any file system to any other.
int cp(const cp_arguments& arguments);
int ops();
/// What this machine and this build have that the program makes use of. kFailed: files cannot be read as SLUICE_IO says.
int doctor();
int sample(const std::string& folder, const sample_options& options);

}  // namespace sluice::lib::cli
