// SPDX-License-Identifier: Apache-2.0
#include "cli/verb_options/replay_verb.hpp"

#include <memory>

#include "cli/options/option_checks.hpp"

namespace sluice::lib::cli {

void add_replay(CLI::App& app, reading_arguments& reading, std::function<int()>& verb) {
  auto a = std::make_shared<replay_arguments>();
  auto* own = app.add_subcommand("replay",
                                 "make a bad element of a quarantine again, and print what entered and left each stage "
                                 "up to the failing one; ends "
                                 "with 1 if it fails again, and with 0 if not");
  own->add_option("FILE#N", a->entry, "the entry with number N of the file of a quarantine; the first has number 0")
      ->required();
  own->add_option("--plan", a->plan,
                  "the plan of the run, if the entry cannot have it, as one with an address that "
                  "contains a secret");
  own->add_option("--changed-inputs", a->changed_inputs, "if a file has changed since: refuse, warn, or ignore it")
      ->check(one_of({"refuse", "warn", "ignore"}))
      ->capture_default_str();
  own->add_option("--rebase", a->identity.rebases,
                  "OLD=NEW: files that were under OLD are under NEW now; --plan names the new paths");
  add_reading_options(*own, reading);
  own->callback([&verb, &reading, a] {
    verb = [&reading, a] {
      a->reading = reading;
      return replay(*a);
    };
  });
}

}  // namespace sluice::lib::cli
