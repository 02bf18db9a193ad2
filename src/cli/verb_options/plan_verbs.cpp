// SPDX-License-Identifier: Apache-2.0
#include "cli/verb_options/plan_verbs.hpp"

#include <memory>
#include <string>

#include "cli/options/option_checks.hpp"
#include "cli/verb_options/cache_verb.hpp"
#include "cli/verb_options/checkpoint_verb.hpp"
#include "cli/verb_options/compare_verb.hpp"
#include "cli/verb_options/replay_verb.hpp"
#include "cli/verbs.hpp"
#include "sluice/base/field_types.hpp"

namespace sluice::lib::cli {

void add_splits(CLI::App& app, reading_arguments& reading, std::function<int()>& verb) {
  auto a = std::make_shared<splits_arguments>();
  auto bytes = std::make_shared<std::string>();
  auto* splits = app.add_subcommand(
      "splits", "print how a plan is divided among workers: the plan of each split, and the stages of the client");
  auto* typed = splits->add_option("PLAN", a->plan, "the plan; or a file, which is read");
  auto* in_file = splits
                      ->add_option("-f,--file", a->plan_file,
                                   "read the plan, as text or JSON, from this file; - for standard input")
                      ->check(path())
                      ->excludes(typed);
  splits->parse_complete_callback([typed, in_file] {
    if (typed->count() == 0 && in_file->count() == 0) throw CLI::RequiredError("PLAN or --file");
  });
  auto* number = splits->add_option("--splits", a->splits, "about this number of splits; by default one for each file")
                     ->check(whole(1, 1'000'000));
  auto* size = splits->add_option("--split-bytes", *bytes, "about this number of bytes of files in each split")
                   ->check(size_in_bytes())
                   ->excludes(number);
  splits->add_option("--split-elements", a->split_elements, "this number of elements, or of files, in each split")
      ->check(whole(1, kAny))
      ->excludes(number)
      ->excludes(size);
  splits
      ->add_option("--visitation", a->visitation,
                   "how often elements may be delivered; at_least_once runs batches and shuffles on the workers")
      ->check(one_of({"exactly_once", "at_most_once", "at_least_once"}))
      ->capture_default_str();
  splits->add_option("--round", a->round, "the epoch of a repeat, or the number of a split of a plan without an end")
      ->check(whole(0, kAny))
      ->capture_default_str();
  splits->add_option("--seed", a->seed, "the seed of stages without one in the plan")
      ->check(whole(0, kAny))
      ->capture_default_str();
  splits->add_option("--epoch", a->epoch, "the number of this pass over the data")
      ->check(whole(0, kAny))
      ->capture_default_str();
  splits->add_flag("--json", a->as_json, "print the cut, the streams, and the splits as JSON");
  add_reading_options(*splits, reading);
  splits->callback([&verb, &reading, a, bytes] {
    verb = [&reading, a, bytes] {
      a->reading = reading;
      std::int64_t size_bytes = 0;
      if (!bytes->empty() && read_byte_size(*bytes, size_bytes))
        a->split_bytes = static_cast<std::uint64_t>(size_bytes);
      return cli::splits(*a);
    };
  });
  add_cache(app, verb);  // the next ones in the help
  add_checkpoint(app, verb);
  add_compare(app, reading, verb);
  add_replay(app, reading, verb);
}

void add_index(CLI::App& app, reading_arguments& reading, format_arguments& format, std::function<int()>& verb) {
  auto a = std::make_shared<index_arguments>();
  auto* index = app.add_subcommand(
      "index",
      "build FILE.sluice-index, the places of elements in TFRecords, lines, CSV, JSON lines and tar archives, also if "
      "they are compressed: readers then skip elements without reading them, and index=required gives them in any "
      "order");
  index->add_option("FILES", a->files, "files, or patterns of them")->required();
  index
      ->add_option(
          "--every", a->every,
          "the number of elements between two places; by default chosen, so that a place is 32 to 64 KiB before "
          "an element; a small number, such as 16, makes random access faster and the index larger")
      ->check(whole(1, kAny));
  add_format_options(*index, format);
  add_reading_options(*index, reading);
  index->callback([&verb, &reading, &format, a] {
    verb = [&reading, &format, a] {
      a->reading = reading;
      a->format = format;
      return cli::index(*a);
    };
  });
}

}  // namespace sluice::lib::cli
