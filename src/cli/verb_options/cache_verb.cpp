// SPDX-License-Identifier: Apache-2.0
#include "cli/verb_options/cache_verb.hpp"

#include <memory>

#include "cli/options/option_checks.hpp"

namespace sluice::lib::cli {

void add_cache(CLI::App& app, std::function<int()>& verb) {
  struct typed {
    std::string action, path;
  };
  auto t = std::make_shared<typed>();
  auto* caches =
      app.add_subcommand("cache", "look at the file or objects of cache(\"PATH\"), check them, or remove them");
  caches
      ->add_option("ACTION", t->action,
                   "show: what it was made from, and its elements; verify: read all blocks; drop: remove it")
      ->check(one_of({"show", "verify", "drop"}))
      ->required();
  caches->add_option("PATH", t->path, "the file, or s3://bucket/key")->check(path())->required();
  caches->callback([&verb, t] { verb = [t] { return cache(t->action, t->path); }; });
}

}  // namespace sluice::lib::cli
