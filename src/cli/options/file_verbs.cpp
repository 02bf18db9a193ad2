// SPDX-License-Identifier: Apache-2.0
#include "cli/options/file_verbs.hpp"

#include <memory>

#include "cli/verbs.hpp"

namespace sluice::lib::cli {

void add_file_verbs(CLI::App& app, reading_arguments& reading, std::function<int()>& verb) {
  auto listed = std::make_shared<ls_arguments>();
  auto* ls = app.add_subcommand("ls", "the files that patterns match, with their sizes and times; local and remote");
  ls->add_option(
        "PATTERNS_OR_FOLDERS", listed->patterns,
        "patterns (*, ?, […], and ** for any number of folders), paths, or folders, of which is told what is in them")
      ->required();
  ls->add_flag("--json", listed->as_json, "as JSON lines: path, size, modified, version, as far as they are known");
  add_reading_options(*ls, reading);
  ls->footer("example: sluice ls 'data/**/*.tfrecord'");
  ls->callback([&verb, &reading, listed] {
    verb = [&reading, listed] {
      listed->reading = reading;
      return cli::ls(*listed);
    };
  });

  auto copied = std::make_shared<cp_arguments>();
  auto* cp = app.add_subcommand("cp", "copy files from any file system to any other; a copy is there when it is whole");
  cp->add_option(
        "FILES", copied->paths,
        "what is copied: paths, patterns, or - for standard input; and at the end where to: a path, or a folder, "
        "whose name ends with a / unless it is there. What a ** has found keeps its folders")
      ->required();
  cp->add_flag("--overwrite", copied->overwrites, "replace existing files; a file that is copied is never replaced");
  cp->add_flag("--verify", copied->verifies, "read each copy again, and compare it with what was read first");
  cp->add_flag("--quiet", copied->quiet, "no progress line and no report");
  add_reading_options(*cp, reading);
  cp->footer(
      "examples: sluice cp https://example.org/a.tfrecord data/\n"
      "          sluice cp 'data/**/*.csv' copy/ --verify");
  cp->callback([&verb, &reading, copied] {
    verb = [&reading, copied] {
      copied->reading = reading;
      return cli::cp(*copied);
    };
  });
}

}  // namespace sluice::lib::cli
