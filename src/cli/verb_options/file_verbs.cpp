// SPDX-License-Identifier: Apache-2.0
#include "cli/verb_options/file_verbs.hpp"

#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "cli/reports/description.hpp"
#include "cli/verbs.hpp"
#include "sluice/version.hpp"

namespace sluice::lib::cli {

void add_file_verbs(CLI::App& app, reading_arguments& reading, std::function<int()>& verb) {
  auto listed = std::make_shared<ls_arguments>();
  auto* ls =
      app.add_subcommand("ls", "list the files that match patterns, with their sizes and times; local and remote");
  ls->add_option("PATTERNS_OR_FOLDERS", listed->patterns,
                 "patterns (*, ?, […], and ** for any number of folders), paths, or folders, whose contents are listed")
      ->required();
  ls->add_flag("--json", listed->as_json, "print JSON lines: path, and if known size, modified and version");
  add_reading_options(*ls, reading);
  ls->callback([&verb, &reading, listed] {
    verb = [&reading, listed] {
      listed->reading = reading;
      return cli::ls(*listed);
    };
  });

  auto copied = std::make_shared<cp_arguments>();
  auto* cp =
      app.add_subcommand("cp", "copy files from any file system to any other; a copy appears when it is complete");
  cp->add_option("FILES", copied->paths,
                 "the sources: paths, patterns, or - for standard input; the last argument is the destination: a path, "
                 "or a folder, which must end with a / unless it exists. Files found by a ** keep their folders")
      ->required();
  cp->add_flag("--overwrite", copied->overwrites, "replace existing files; a file that is copied is never replaced");
  cp->add_flag("--verify", copied->verifies, "read each copy again, and compare it with the source");
  cp->add_flag("--quiet", copied->quiet, "print no progress line and no report");
  add_reading_options(*cp, reading);
  cp->callback([&verb, &reading, copied] {
    verb = [&reading, copied] {
      copied->reading = reading;
      return cli::cp(*copied);
    };
  });
}

void add_program_verbs(CLI::App& app, std::function<int()>& verb) {
  auto watched = std::make_shared<std::pair<std::string, bool>>();
  auto* top = app.add_subcommand("top", "show the report of a run with --serve, again each second");
  top->add_option("ADDRESS", watched->first, "what sluice run --serve has printed: HOST:PORT, :PORT or a URL")
      ->required();
  top->add_flag("--once", watched->second, "print the report once, as without a terminal");
  top->callback([&verb, watched] { verb = [watched] { return cli::top(watched->first, watched->second); }; });

  auto* doctor =
      app.add_subcommand("doctor", "print the abilities of this machine and this build, and possible improvements");
  doctor->callback([&verb] { verb = [] { return cli::doctor(); }; });

  auto* man = app.add_subcommand("man", "print the manual page, for man or roff");
  man->callback([&app, &verb] {
    verb = [&app] {
      std::fputs(manual_page(app, SLUICE_VERSION_STRING).c_str(), stdout);
      return kOk;
    };
  });
}

}  // namespace sluice::lib::cli
