// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include "cli/json_members.hpp"
#include "cli/line_sink.hpp"
#include "cli/plan_argument.hpp"
#include "cli/pull.hpp"
#include "cli/verbs.hpp"
#include "plan/closest.hpp"
#include "sluice/format/example.hpp"

namespace sluice::lib::cli {
namespace {

std::vector<std::string> split_names(const std::string& list) {
  std::vector<std::string> names = absl::StrSplit(list, ',', absl::SkipEmpty());
  if (names.empty()) throw misuse("select: names of members with commas between, such as text,label");
  return names;
}

/// "x has no lable (it has label and text); did you mean label?"
status unknown_name(const std::string& name, const std::vector<std::string>& known) {
  std::string list;
  for (auto& k : known) absl::StrAppend(&list, list.empty() ? "" : ", ", k);
  return invalid_argument_error(absl::StrCat("there is no ", name, " (there is ", list.empty() ? "nothing" : list, ")",
                                             detail::did_you_mean(name, known)));
}

class selecting_sink final : public line_sink {
 public:
  explicit selecting_sink(std::vector<std::string> names) : names_(std::move(names)) {}

 protected:
  status print_line(const element_type& type, const void* element, std::string& text) override {
    json_.clear();
    if (type.text) {
      auto example = example_to_json(type.text(element));
      if (!example.ok()) return example.why();
      json_ = std::move(*example);
    } else {
      print(type, element, json_);
    }
    text += '{';
    for (std::size_t i = 0; i != names_.size(); ++i) {
      std::string_view value = json_at(json_, names_[i]);
      if (value.empty()) {
        // A tf.Example need not have every feature, but a name that the first one lacks is more likely wrong.
        if (type.text && record() != 0) value = "null";
        else return unknown_name(names_[i], known_names());
      }
      if (i) text += ',';
      print_json_name(names_[i], text);
      text.append(":").append(value);
    }
    text += '}';
    return {};
  }

 private:
  std::vector<std::string> known_names() const {
    std::vector<std::string> names;
    for (auto [name, value] : members_of_json(json_)) {
      std::string outer(name);
      names.push_back(outer);
      for (auto [inner, unused] : members_of_json(value)) names.push_back(absl::StrCat(outer, ".", std::string(inner)));
    }
    return names;
  }

  std::vector<std::string> names_;
  std::string json_;
};

/// Members of structures are known before anything is read; `path` is "user.name".
status check_name(const element_type& type, const std::string& path) {
  const element_type* at = &type;
  std::string_view rest = path;
  while (true) {
    if (at->kind != kind::structure && at->kind != kind::batch) return {};  // known only when it is printed
    const element_type* row = at->kind == kind::batch ? at->element : at;
    std::vector<std::string> known;
    const member* found = nullptr;
    for (auto& m : row->members) {
      known.push_back(m.name);
      if (rest == m.name || (rest.starts_with(m.name) && rest.size() > m.name.size() && rest[m.name.size()] == '.'))
        found = &m;
    }
    if (row->members.empty()) return {};
    if (!found) return unknown_name(std::string(rest), known);
    if (rest == found->name) return {};
    rest.remove_prefix(found->name.size() + 1);
    at = found->type;
  }
}

}  // namespace

int select(const std::string& names, const std::string& plan, const std::string& plan_file, std::uint64_t limit) {
  std::vector<std::string> chosen = split_names(names);
  node_ptr of = plan_file.empty() ? plan_or_reader(plan) : plan_in_file(plan_file);
  for (auto& name : chosen) {
    status why = check_name(*of->type, name);
    if (!why.ok()) throw misuse(absl::StrCat("select: ", std::string(why.message())));
  }
  runtime rt;
  selecting_sink sink(chosen);
  if (plan_file.empty() && names_data(plan)) sink.begin(plan);
  pull_counts counts;
  pull_request request;
  request.stream = open_run(rt, of);
  request.sink = &sink;
  request.counts = &counts;
  request.limit = limit;
  pull_outcome out = sync_wait(rt, pull(&request));
  if (!out.why.ok()) throw_status(out.why);
  return kOk;
}

}  // namespace sluice::lib::cli
