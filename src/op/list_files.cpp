// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/list_files.hpp"

#include <algorithm>
#include <memory>

#include "engine/lowering/open_context.hpp"
#include "io/paths/glob.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "runtime/held_memory.hpp"
#include "runtime/known_files.hpp"
#include "runtime/seen_inputs.hpp"
#include "sluice/base/random_bits.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"
#include "sluice/io/files.hpp"

namespace sluice::lib {

namespace {

/// Returns the bytes that a name uses in addition to the string object.
std::size_t text_bytes(const std::string& name) {
  return name.capacity() > std::string().capacity() ? name.capacity() + 1 : 0;
}

/// Names, and the memory of their texts.
struct name_list {
  std::vector<std::string> names;
  std::size_t text_bytes = 0;
};

void shuffle_names(std::vector<std::string>& names, std::uint64_t seed) {
  for (std::size_t i = names.size(); i > 1; --i) std::swap(names[i - 1], names[draw(seed, i, i)]);
}

struct list_request {
  std::string patterns;
  bool shuffled = false;
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
};

/// Adds all matches page by page. A listing may be long, so each page is charged before the next one is requested.
task<> add_matches(name_list& to, held_memory& memory, run_context& run, std::string pattern) {
  std::unique_ptr<listing> matches = files_of(run).list(std::move(pattern));
  for (;;) {
    auto listing_more = matches->next(io_deadline(run));
    std::vector<listed_file> page = co_await listing_more;
    if (page.empty()) co_return;
    for (listed_file& f : page) {
      if (f.info) run.known->add(f.path, *f.info);
      to.text_bytes += text_bytes(f.path);
      to.names.push_back(std::move(f.path));
    }
    status fits = memory.resize(to.names.capacity() * sizeof(std::string) + to.text_bytes);
    if (!fits.ok()) co_await fail(std::move(fits));
  }
}

erased_stream list_files_loop(outlet out, saved<std::uint64_t> delivered, std::shared_ptr<run_context> run,
                              list_request ask, error_gate gate) {
  auto shared = std::make_shared<name_list>();
  name_list& list = *shared;
  held_memory memory(run, gate.line(purpose::listing), gate.label(), "the list of files", "list fewer files at once");
  const std::vector<std::string> patterns = detail::split_patterns(ask.patterns);
  status none_matches;
  for (const std::string& pattern : patterns) {
    auto listing = add_matches(list, memory, *run, pattern);
    status why = co_await listing.as_result();
    const bool may_be_missing = why.code() == status_code::not_found && patterns.size() > 1;
    if (may_be_missing) none_matches = std::move(why);
    else if (!why.ok()) co_await fail(why.in_stage(gate.label()));
  }
  std::vector<std::string>& names = list.names;
  if (names.empty() && !none_matches.ok()) co_await fail(none_matches.in_stage(gate.label()));
  if (patterns.size() > 1) std::ranges::sort(names);
  status same = run->settle_changed_input(run->inputs->listed(ask.patterns, ask.epoch, names));
  if (!same.ok()) co_await fail(same.in_stage(gate.label()));
  if (ask.shuffled) shuffle_names(names, ask.seed);
  while (*delivered < names.size()) {
    *delivered += out.pass(names.size() - *delivered);
    std::uint32_t n = out.wanted_of(names.size() - *delivered);
    if (n == 0) break;
    auto* to = reinterpret_cast<std::string*>(out.room(n));
    for (std::uint32_t i = 0; i != n; ++i) ::new (static_cast<void*>(to + i)) std::string(names[*delivered + i]);
    *delivered += n;
    run->known->given_up_to(std::shared_ptr<const std::vector<std::string>>(shared, &names), *delivered);
    co_yield out.made(n);
  }
}

erased_stream open_list_files(const node& n, open_context& context) {
  auto& a = n.as<list_files_arguments>();
  outlet out(*n.type);
  saved<std::uint64_t> delivered;
  list_request ask;
  ask.patterns = a.pattern.value;
  ask.shuffled = a.options.shuffle;
  ask.seed = context.seed_of(n, a.options.seed.value);
  ask.epoch = context.passes;
  return list_files_loop(out, std::move(delivered), context.run, std::move(ask), context.gate(n));
}

}  // namespace

const op_info list_files_op{
    .name = "list_files",
    .doc = "paths that match a pattern (*, ?, […], **); a comma separates patterns",
    .shape = op_info::source,
    .arguments = arguments_of<list_files_arguments>,
    .type = [](const node&, std::string&) { return &type_of<std::string>(); },
    .facts = {.refine = [](const node& n, stage_facts& f) { f.draws = n.as<list_files_arguments>().options.shuffle; }},
    .splits = {.rule = split_rule::listing},
    .lowering = {.open = open_list_files},
};

dataset<std::string> list_files(std::string_view patterns, list_files_options o) {
  return dataset<std::string>(
      make_source(list_files_op, arguments::of(list_files_arguments{std::string(patterns), o})));
}

}  // namespace sluice::lib
