// SPDX-License-Identifier: Apache-2.0
#include "cli/reports/stage_json.hpp"

#include <absl/strings/str_cat.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/seconds.hpp"
#include "base/text/redacted.hpp"

namespace sluice::lib::cli {
namespace {

using json = nlohmann::ordered_json;

std::string path_text(std::uint64_t path) { return absl::StrCat(absl::Hex(path, absl::kZeroPad16)); }

json json_of(const knob_report& k) {
  return {{"name", k.name}, {"value", k.value}, {"min", k.least}, {"max", k.most}, {"auto", k.is_free}};
}

json waits_of(const site_report& s) {
  static constexpr const char* kNames[kWaitReasons] = {"input",     "calls", "disk",  "network", "pace",
                                                       "call_pool", "room",  "limit", "memory"};
  json all = json::object();
  for (std::size_t i = 0; i != kWaitReasons; ++i)
    if (const site_wait& w = s.waits_by_reason[i]; w.times)
      all[kNames[i]] = {{"times", w.times}, {"seconds", seconds_of(w.took)}};
  return all;
}

json sizes_of(const site_report& s) {
  json all = json::array();
  for (const size_class_report& c : s.by_size)
    all.push_back({{"bytes_max", c.bytes_max ? json(c.bytes_max) : json()},
                   {"elements", c.elements},
                   {"element_seconds", seconds_of(c.took) / static_cast<double>(c.elements)}});
  return all;
}

json channels_of(const site_report& s) {
  json all = json::array();
  for (const channel_report& c : s.channels)
    all.push_back({{"name", detail::redacted(c.name)},
                   {"channels", c.channels},
                   {"blocks", c.blocks},
                   {"blocks_max", c.blocks_max},
                   {"elements", c.elements},
                   {"elements_max", c.elements_max ? json(c.elements_max) : json()},
                   {"bytes", c.bytes},
                   {"light", c.is_light}});
  return all;
}

json json_of(const site_report& s, duration elapsed) {
  json knobs = json::array(), inputs = json::array();
  for (const knob_report& k : s.knobs) knobs.push_back(json_of(k));
  for (std::uint64_t path : s.inputs) inputs.push_back(path_text(path));
  std::size_t peak = 0;
  for (const ledger_line_report& l : s.memory) peak += l.peak_bytes;
  const double run = seconds_of(elapsed);
  return {{"path", path_text(s.path)},
          {"name", detail::redacted(s.name)},
          {"number", s.number},
          {"inner", s.is_inner},
          {"inputs", std::move(inputs)},
          {"elements", s.elements},
          {"skipped", s.passed},
          {"blocks", s.blocks},
          {"elements_in", s.elements_in},
          {"bytes_in", s.bytes_in},
          {"busy_share", s.busy_share},
          {"input_share", s.input_share},
          {"blocked_share", s.blocked_share},
          {"own_seconds", seconds_of(s.busy)},
          {"task_seconds", seconds_of(s.in_tasks)},
          {"in_flight_seconds", seconds_of(s.in_flight)},
          {"element_seconds", seconds_of(s.each)},
          {"element_deviation_seconds", seconds_of(s.each_deviation)},
          {"longest_element_seconds", seconds_of(s.longest)},
          {"by_size", sizes_of(s)},
          {"waits", s.waits},
          {"waited_seconds", seconds_of(s.waited)},
          {"room_waits", s.room_waits},
          {"room_waited_seconds", seconds_of(s.room_waited)},
          {"waits_by_reason", waits_of(s)},
          {"bytes", s.bytes},
          {"element_bytes", s.each_bytes},
          {"element_deviation_bytes", s.each_bytes_deviation},
          {"largest_element_bytes", s.largest_bytes},
          {"read_bytes", s.read_bytes},
          {"reads", s.reads},
          {"reads_in_flight", run > 0 ? json(seconds_of(s.reads_took) / run) : json()},
          {"first_byte_seconds",
           s.first_bytes ? json(seconds_of(s.first_byte_took) / static_cast<double>(s.first_bytes)) : json()},
          {"requests", s.requests},
          {"request_first_byte_seconds",
           s.requests ? json(seconds_of(s.answered_after) / static_cast<double>(s.requests)) : json()},
          {"memory_peak_bytes", peak},
          {"channels", channels_of(s)},
          {"knobs", std::move(knobs)}};
}

json edges_of(const run_report& report) {
  json all = json::array();
  for (const site_report& to : report.sites)
    for (const site_report& from : report.sites)
      for (std::uint64_t path : to.inputs)
        if (path == from.path)
          all.push_back({{"from", path_text(from.path)},
                         {"to", path_text(to.path)},
                         {"elements", from.elements},
                         {"bytes", from.bytes},
                         {"channel", !to.channels.empty()}});
  return all;
}

json json_of(const run_verdict& v) {
  json notes = json::array();
  for (const std::string& text : v.notes) notes.push_back(text);
  return {{"kind", std::string(to_string(v.kind))},
          {"wait_share", v.wait_share},
          {"cause", v.path ? json(std::string(to_string(v.cause))) : json()},
          {"path", v.path ? json(path_text(v.path)) : json()},
          {"stage", v.path ? json(detail::redacted(v.stage)) : json()},
          {"text", detail::redacted(v.text)},
          {"notes", std::move(notes)}};
}

json json_of(const consumer_report& c) {
  json stalls;
  if (c.stall_every)
    stalls = {{"number", c.stalls},
              {"seconds", seconds_of(c.stall_took)},
              {"every_elements", c.stall_every},
              {"regular", c.is_regular}};
  return {{"requests", c.requests},
          {"seconds", seconds_of(c.elapsed)},
          {"waits", c.waits},
          {"waited_seconds", seconds_of(c.waited)},
          {"median_wait_seconds", seconds_of(c.median_wait)},
          {"p99_wait_seconds", seconds_of(c.long_wait)},
          {"stalls", std::move(stalls)}};
}

json json_of(const tuning_report& t) {
  if (!t.is_on) return {};
  json knobs = json::array(), what_ifs = json::array();
  for (const knob_choice& k : t.knobs)
    knobs.push_back({{"path", path_text(k.path)},
                     {"stage", detail::redacted(k.stage)},
                     {"name", k.knob},
                     {"value", k.value},
                     {"began", k.began},
                     {"max", k.most},
                     {"requested", k.is_requested},
                     {"reason", detail::redacted(k.reason)}});
  for (const what_if& w : t.what_ifs)
    what_ifs.push_back({{"change", detail::redacted(w.change)},
                        {"path", w.path ? json(path_text(w.path)) : json()},
                        {"gain", w.gain}});
  return {{"looks", t.looks},
          {"steps", t.steps},
          {"changes", t.changes},
          {"elements_per_second", t.elements_second},
          {"limit", detail::redacted(t.limit)},
          {"why_none", t.why_none.empty() ? json() : json(t.why_none)},
          {"error_median", t.error_median},
          {"choices", std::move(knobs)},
          {"what_if", std::move(what_ifs)}};
}

}  // namespace

void add_profile(const run_report& report, json& to) {
  json stages = json::array(), knobs = json::array();
  for (const site_report& s : report.sites) {
    stages.push_back(json_of(s, report.consumer.elapsed));
    for (const knob_report& k : s.knobs) {
      json knob{{"path", path_text(s.path)}, {"stage", detail::redacted(s.name)}};
      knob.update(json_of(k));
      knobs.push_back(std::move(knob));
    }
  }
  to["verdict"] = json_of(report.verdict);
  to["consumer"] = json_of(report.consumer);
  to["cpu_seconds"] = seconds_of(report.machine.computed);
  to["stages"] = std::move(stages);
  to["edges"] = edges_of(report);
  to["knobs"] = std::move(knobs);
  to["tuner"] = json_of(report.tuning);
}

}  // namespace sluice::lib::cli
