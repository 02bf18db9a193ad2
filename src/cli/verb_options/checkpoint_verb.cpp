// SPDX-License-Identifier: Apache-2.0
#include "cli/verb_options/checkpoint_verb.hpp"

#include <memory>

#include "cli/inputs/transport_choice.hpp"
#include "cli/options/option_checks.hpp"

namespace sluice::lib::cli {

void add_checkpoint(CLI::App& app, std::function<int()>& verb) {
  auto a = std::make_shared<checkpoint_arguments>();
  auto* own = app.add_subcommand("checkpoint", "show a checkpoint, compare two, or divide them among other consumers");
  own->add_option("ACTION", a->action,
                  "show: print it in words; diff: print what differs between two; reshard: write the checkpoints of "
                  "another number of consumers")
      ->check(one_of({"show", "diff", "reshard"}))
      ->required();
  own->add_option("FILES", a->files, "checkpoints; for reshard that of each consumer")->check(path())->required();
  own->add_option("--plan", a->plan,
                  "the plan of the checkpoints, whose stages are then named; for reshard that of one of the consumers");
  own->add_option("--to", a->to, "the new number of consumers")->check(whole(1, 65'536));
  own->add_option("-o,--output", a->folder, "the folder for the new checkpoints")->check(path());
  own->add_flag("--global-order", a->global_order,
                "refuse checkpoints after which the consumers' elements would have no common order");
  add_transport_option(*own);
  own->callback([&verb, a] { verb = [a] { return checkpoint_files(*a); }; });
}

}  // namespace sluice::lib::cli
