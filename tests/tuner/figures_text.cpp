// SPDX-License-Identifier: Apache-2.0
#include "tuner/figures_text.hpp"

#include <absl/strings/str_split.h>

#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string_view>

namespace sluice::lib::test {
namespace {

/// A number, with an optional unit of time or size.
double number(const std::string& text) {
  static const std::map<std::string_view, double> kUnits = {
      {"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"KiB", 1024}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const auto unit = kUnits.find(std::string_view(end));
  if (end == text.c_str() || unit == kUnits.end()) throw std::invalid_argument("no number: " + text);
  return value * unit->second;
}

std::vector<std::string> words_of(const std::string& text) { return absl::StrSplit(text, ' ', absl::SkipEmpty()); }

std::int64_t whole(const std::string& text) { return static_cast<std::int64_t>(number(text)); }

void add_knob(stage_figures& s, const std::string& name, const std::string& value, bool is_requested) {
  const std::vector<std::string> parts = absl::StrSplit(value, '/');
  const std::int64_t most = parts.size() > 1 ? whole(parts[1]) : 1 << 20;
  s.knobs.push_back({name, whole(parts[0]), most, is_requested, 1, false});
}

/// Reads one word of a stage. `opens`, `blocked`: flags that concern more than one field.
void read_word(const std::string& word, stage_figures& s, bool& is_blocked) {
  const std::vector<std::string> parts = absl::StrSplit(word, absl::MaxSplits('=', 1));
  const std::string& name = parts[0];
  const std::string value = parts.size() > 1 ? parts[1] : "";
  const std::map<std::string, double*> numbers = {{"own", &s.own},
                                                  {"outside", &s.outside},
                                                  {"pull", &s.pull},
                                                  {"call", &s.call},
                                                  {"deviation", &s.deviation},
                                                  {"longest", &s.longest},
                                                  {"slow", &s.slow_share},
                                                  {"visits", &s.visits},
                                                  {"running", &s.running},
                                                  {"bytes", &s.bytes},
                                                  {"block", &s.block_elements},
                                                  {"reads", &s.reads},
                                                  {"read", &s.read},
                                                  {"reading", &s.reading},
                                                  {"read_wait", &s.read_wait},
                                                  {"read_alone", &s.read_alone},
                                                  {"reads_useful", &s.reads_useful},
                                                  {"useful", &s.scales.useful},
                                                  {"sigma", &s.scales.sigma},
                                                  {"fewest", &s.fewest},
                                                  {"limited", &s.limited},
                                                  {"starved", &s.starved}};
  const std::map<std::string, bool*> flags = {{"awaits", &s.awaits},
                                              {"light", &s.is_light},
                                              {"opens", &s.opens_plans},
                                              {"prefetch", &s.works_ahead},
                                              {"blocked", &is_blocked}};
  if (auto n = numbers.find(name); n != numbers.end()) *n->second = number(value);
  else if (auto f = flags.find(name); f != flags.end()) *f->second = true;
  else if (name == "floor") s.knobs.back().floor = whole(value);
  else if (name == "least") s.knobs.back().least = whole(value);
  else if (name == "spread") s.knobs.back().spread = number(value);
  else if (name == "p" || name == "r") add_knob(s, "parallelism", value, name == "r");
  else if (name == "elements" || name == "reads_in_flight") add_knob(s, name, value, false);
  else throw std::invalid_argument("unknown word: " + word);
}

stage_figures read_stage(const std::string& text) {
  stage_figures s;
  bool is_blocked = false;
  for (const std::string& word : words_of(text)) {
    if (s.name.empty()) s.name = word;
    else read_word(word, s, is_blocked);
  }
  if (s.call > 0) s.calls = 100;
  s.works_ahead |= s.call > 0;
  for (tunable_knob& k : s.knobs) k.is_blocked = is_blocked;
  return s;
}

}  // namespace

run_text read_run(const std::string& text) {
  run_text r;
  const std::vector<std::string> halves = absl::StrSplit(text, ';');
  std::vector<std::string> names = absl::StrSplit(halves.at(0), '|');
  bool opens = false;
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    stage_figures& s = r.measured.stages.emplace_back(read_stage(*name));
    s.path = r.measured.stages.size();
    opens |= s.opens_plans;
  }
  const std::size_t count = r.measured.stages.size();
  if (opens) r.measured.stages.emplace_back().name = "files";
  for (std::size_t i = 0; i != count; ++i) {
    if (r.measured.stages[i].opens_plans) r.measured.stages[i].inputs.push_back(count);
    if (i + 1 != count) r.measured.stages[i].inputs.push_back(i + 1);
  }
  r.measured.seconds = 1;
  r.measured.elements = 100;
  if (halves.size() < 2) return r;
  for (const std::string& word : words_of(halves[1])) {
    const std::vector<std::string> parts = absl::StrSplit(word, '=');
    const double value = number(parts.at(1));
    if (parts[0] == "workers") r.limits.workers = static_cast<unsigned>(value);
    else if (parts[0] == "memory") r.limits.memory_bytes = value;
    else if (parts[0] == "consumer") r.measured.consumer = value;
    else if (parts[0] == "wait") r.measured.wait_share = value;
    else if (parts[0] == "stall") r.measured.stall = value;
    else if (parts[0] == "cpu") r.measured.cpu = value;
    else if (parts[0] == "elements") r.measured.elements = value;
    else throw std::invalid_argument("unknown word: " + word);
  }
  return r;
}

}  // namespace sluice::lib::test
