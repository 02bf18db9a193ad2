// SPDX-License-Identifier: Apache-2.0
#include "engine/stored/plan_head.hpp"

#include <absl/strings/str_cat.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>
#include <utility>

#include "io/plan_file_reader.hpp"
#include "plan/codecs/argument_codec.hpp"
#include "plan/plan_parts.hpp"
#include "sluice/coro/position.hpp"
#include "sluice/element/type_text.hpp"
#include "sluice/plan/function.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib {

struct head_values {
  std::string plan, type;
  cache_key key;
  std::uint64_t pass = 0;
  std::vector<function_identity> functions;
  std::vector<named_input> inputs;
};

namespace {

constexpr std::uint64_t kHeadVersion = 1;

void collect_paths(const node& n, std::set<std::string>& paths) {
  for (const node_ptr& input : n.inputs) collect_paths(*input, paths);
  for_each_plan(n, [&](const node_ptr& inner) { collect_paths(*inner, paths); });
  for (const field& f : n.op->arguments().fields) {
    if (!f.type->is_later() || !f.type->takes_text()) continue;
    const auto& text = *static_cast<const required_text*>(argument_list::at(n.arguments.get(), f));
    if (text.is_given) paths.insert(text.value);
  }
}

/// Returns the local files that the plan names, and those that its patterns match now.
std::vector<named_input> inputs_of(const node& plan) {
  std::set<std::string> texts, files;
  collect_paths(plan, texts);
  for (const std::string& text : texts) {
    if (text.find("://") != text.npos) continue;
    struct stat one{};
    if (::stat(text.c_str(), &one) == 0) {
      files.insert(text);
      continue;
    }
    auto matches = detail::list_for_plan(text);
    if (matches.ok()) files.insert(matches->begin(), matches->end());
  }
  std::vector<named_input> all;
  for (const std::string& path : files) {
    struct stat is{};
    named_input one{path};
    if (::stat(path.c_str(), &is) == 0 && S_ISREG(is.st_mode)) {
      one.size_bytes = static_cast<std::uint64_t>(is.st_size);
      one.modified_ns = is.st_mtim.tv_sec * 1'000'000'000 + is.st_mtim.tv_nsec;
    }
    all.push_back(std::move(one));
  }
  return all;
}

bool read_head(std::string_view bytes, head_values& h) {
  position_reader r(bytes);
  if (r.number() != kHeadVersion) return false;
  h.plan = r.text();
  h.type = r.text();
  h.key.plan = r.number();
  h.key.drawn_in = r.number();
  h.key.seed = r.number();
  h.key.settings = r.number();
  h.pass = r.number();
  for (std::size_t n = r.count(); n != 0 && r.ok(); --n) {
    function_identity f;
    f.op = r.text();
    f.name = r.text();
    f.version = static_cast<int>(r.number());
    f.is_data = r.number() != 0;
    f.values_known = r.number() != 0;
    f.values = r.number();
    h.functions.push_back(std::move(f));
  }
  for (std::size_t n = r.count(); n != 0 && r.ok(); --n) {
    named_input in;
    in.path = r.text();
    in.size_bytes = r.number();
    in.modified_ns = static_cast<std::int64_t>(r.number());
    h.inputs.push_back(std::move(in));
  }
  return r.ok() && r.done();
}

std::string shown(std::string plan) {
  constexpr std::size_t kShownMax = 200;
  if (plan.size() > kShownMax) plan = plan.substr(0, kShownMax) + "…";
  return plan;
}

/// Returns true for the name of a registered function; the name of an expression is its text, which the plan shows.
bool is_shown_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
  });
}

constexpr std::string_view kRemedy = "; name another file, remove this one, or write on_mismatch=rebuild to replace it";

}  // namespace

plan_head::plan_head(node_ptr input, const cache_key& key, std::shared_ptr<run_context> run, std::string noun)
    : input_(std::move(input)), key_(key), run_(std::move(run)), noun_(std::move(noun)) {}

std::string plan_head::bytes(std::uint64_t pass) const {
  position_writer w;
  w.number(kHeadVersion);
  w.text(plan_text(*input_));
  w.text(type_text(*input_->type));
  w.number(key_.plan);
  w.number(key_.drawn_in);
  w.number(key_.seed);
  w.number(key_.settings);
  w.number(pass);
  const std::vector<function_identity> functions = identities_of(*input_);
  w.number(functions.size());
  for (const function_identity& f : functions) {
    w.text(f.op);
    w.text(f.name);
    w.number(static_cast<std::uint64_t>(f.version));
    w.number(f.is_data);
    w.number(f.values_known);
    w.number(f.values);
  }
  const std::vector<named_input> inputs = inputs_of(*input_);
  w.number(inputs.size());
  for (const named_input& in : inputs) {
    w.text(in.path);
    w.number(in.size_bytes);
    w.number(static_cast<std::uint64_t>(in.modified_ns));
  }
  return w.bytes();
}

std::string plan_head::difference(const head_values& there) const {
  const std::string functions =
      there.plan == plan_text(*input_) ? difference_of(there.functions, identities_of(*input_)) : std::string();
  if (!functions.empty()) return absl::StrCat("it was made by other functions: ", functions);
  if (there.key.plan != key_.plan || there.key.drawn_in != key_.drawn_in || there.type != type_text(*input_->type))
    return absl::StrCat("it has the elements of another plan, `", shown(there.plan), "`, and this one is `",
                        shown(plan_text(*input_)), "`");
  if (there.key.seed != key_.seed)
    return absl::StrCat("its elements were drawn with the seed ", there.key.seed, ", and this run has the seed ",
                        key_.seed, "; give the run that seed, or the stages that draw seeds of their own");
  if (there.key.settings != key_.settings) return "it was made under another error policy or order";
  return {};
}

std::string plan_head::change_of_inputs(const std::vector<named_input>& there) const {
  const std::vector<named_input> here = inputs_of(*input_);
  for (const named_input& now : here) {
    auto before = std::ranges::find(there, now.path, &named_input::path);
    if (before == there.end()) return absl::StrCat(now.path, " is new");
    if (before->size_bytes != now.size_bytes)
      return absl::StrCat(now.path, " had ", before->size_bytes, " bytes, and has ", now.size_bytes);
    if (before->modified_ns != now.modified_ns) return absl::StrCat(now.path, " was modified");
  }
  for (const named_input& before : there)
    if (std::ranges::find(here, before.path, &named_input::path) == here.end())
      return absl::StrCat(before.path, " is gone");
  return {};
}

status plan_head::compare(std::string_view bytes, std::uint64_t& pass) const {
  head_values there;
  if (!read_head(bytes, there))
    return failed_precondition_error(
        absl::StrCat("the ", noun_, " was written by another version of sluice", std::string(kRemedy)));
  pass = there.pass | 1;
  const std::string why = difference(there);
  if (!why.empty())
    return failed_precondition_error(absl::StrCat("the ", noun_, " does not fit: ", why, std::string(kRemedy)));
  const std::string change = change_of_inputs(there.inputs);
  if (change.empty()) return {};
  return run_->settle_changed_input(failed_precondition_error(
      absl::StrCat("the files that the ", noun_, " was made from have changed: ", change, std::string(kRemedy))));
}

bool describe_head(std::string_view head, std::string& to) {
  head_values h;
  if (!read_head(head, h)) return false;
  absl::StrAppend(&to, "plan: ", h.plan, "\nelements of type: ", h.type, "\n");
  if (h.key.seed != 0 || h.key.drawn_in != 0) absl::StrAppend(&to, "drawn with the seed: ", h.key.seed, "\n");
  for (const function_identity& f : h.functions)
    if (is_shown_name(f.name) && !f.is_data) absl::StrAppend(&to, "function: ", f.name, ", version ", f.version, "\n");
  for (const named_input& in : h.inputs) absl::StrAppend(&to, "input: ", in.path, ", ", in.size_bytes, " bytes\n");
  return true;
}

std::string why_not_identified(const node& n) {
  for (const node_ptr& input : n.inputs)
    if (std::string why = why_not_identified(*input); !why.empty()) return why;
  std::string why;
  for_each_plan(n, [&](const node_ptr& inner) {
    if (why.empty()) why = why_not_identified(*inner);
  });
  for_each_function(n, [&](const function_ptr& f) {
    if (!why.empty() || f->is_expression) return;
    if (f->is_data() && !f->values_known)
      why = absl::StrCat("the elements of ", std::string(n.op->name), " cannot be compared with those of a later run");
    else if (!f->is_data() && f->name.empty())
      why = absl::StrCat("the function of ", std::string(n.op->name), " has no name, so a later run could not notice ",
                         "that it has changed; write fn(\"name\", 1, f)");
  });
  return why;
}

}  // namespace sluice::lib
