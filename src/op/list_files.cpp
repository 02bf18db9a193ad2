// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/list_files.hpp"

#include "op/engine.hpp"
#include "op/held_memory.hpp"
#include "sluice/base/hash.hpp"
#include "sluice/base/random.hpp"
#include "sluice/io/files.hpp"

namespace sluice {

template <> const field_list& fields_of<list_files_options>() { return make_field_list<list_files_options>(); }

namespace {

struct listing {
  std::uint64_t given = 0;
  std::uint64_t digest = 0;  // of all names; 0: not listed yet
  decision_log listed;       // the digest again, for positions from before the listing that are written down after it

  void save(position_writer& w) {
    w.number(given);
    w.number(digest);
    w.log(listed.here());
  }
  void load(position_reader& r) {
    given = r.number();
    digest = r.number();
    for (std::size_t n = r.count(); n; --n) digest = r.number();
  }
};

std::vector<std::string> split_patterns(const std::string& patterns) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= patterns.size();) {
    std::size_t end = std::min(patterns.find(',', at), patterns.size());
    if (end != at) parts.push_back(patterns.substr(at, end - at));
    at = end + 1;
  }
  if (parts.empty()) parts.push_back(patterns);
  return parts;
}

std::uint64_t digest_of(const std::vector<std::string>& names) {
  std::uint64_t digest = names.size();
  for (const std::string& n : names) digest = mix(digest ^ stable_hash(n));
  return digest | 1;
}

std::size_t bytes_of(const std::vector<std::string>& names) {
  std::size_t bytes = names.capacity() * sizeof(std::string);
  for (const std::string& n : names)
    if (n.capacity() > std::string().capacity()) bytes += n.capacity() + 1;
  return bytes;
}

void shuffle_names(std::vector<std::string>& names, std::uint64_t seed) {
  for (std::size_t i = names.size(); i > 1; --i) std::swap(names[i - 1], names[draw(seed, i, i)]);
}

erased_stream list_stage(outlet out, saved<listing> at, std::shared_ptr<run_context> run, std::string patterns,
                         bool shuffled, std::uint64_t seed, error_gate gate) {
  std::vector<std::string> names;
  for (const std::string& pattern : split_patterns(patterns)) {
    auto matching = files_of(*run).glob(pattern);
    auto matches = co_await matching.as_result();
    if (!matches.ok()) co_await fail(matches.why().in_stage(gate.label()));
    for (std::string& name : *matches) names.push_back(std::move(name));
  }
  held_memory memory(run, purpose::listing, gate.label(), "the list of files", "list fewer files at once");
  status fits = memory.resize(bytes_of(names));
  if (!fits.ok()) co_await fail(std::move(fits));
  std::uint64_t digest = digest_of(names);
  if (at->digest && at->digest != digest)
    co_await fail(failed_precondition_error("the files that match \"" + patterns +
                                            "\" are not those the checkpoint was made with")
                      .in_stage(gate.label()));
  if (!at->digest) at->listed.add(digest);
  at->digest = digest;
  if (shuffled) shuffle_names(names, seed);
  while (at->given < names.size()) {
    at->given += out.pass(names.size() - at->given);
    std::uint32_t n = out.wanted_of(names.size() - at->given);
    if (n == 0) break;
    auto* to = reinterpret_cast<std::string*>(out.room(n));
    for (std::uint32_t i = 0; i != n; ++i) ::new (static_cast<void*>(to + i)) std::string(names[at->given + i]);
    at->given += n;
    co_yield out.made(n);
  }
}

erased_stream open_list_files(const node& n, open_context& context) {
  auto o = n.as<list_files_options>();
  outlet out(*n.type);
  saved<listing> at;
  std::uint64_t seed = mix(context.seed_of(n, o.seed.value) + context.epoch);
  return list_stage(out, std::move(at), context.run, n.text, o.shuffle, seed, context.gate(n));
}

}  // namespace

extern const op_info list_files_op{
    .name = "list_files",
    .doc = "paths that match a pattern (*, ?, […]); a comma separates patterns",
    .shape = op_info::source,
    .fields = fields_of<list_files_options>,
    .text_name = "pattern",
    .type = [](const node&, std::string&) { return &type_of<std::string>(); },
    .open = open_list_files,
};

dataset<std::string> list_files(std::string_view patterns, list_files_options o) {
  return dataset<std::string>(make_source("list_files", options::of(o), std::string(patterns)));
}

}  // namespace sluice
