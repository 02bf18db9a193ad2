// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <algorithm>

#include "base/text/closest.hpp"
#include "cli/inputs/plan_argument.hpp"
#include "cli/inputs/remote_files.hpp"
#include "cli/options/typed_command.hpp"
#include "cli/sinks/json_members.hpp"
#include "cli/sinks/line_sink.hpp"
#include "cli/verbs.hpp"
#include "format/example/example_inference.hpp"
#include "pipeline/pull.hpp"
#include "sluice/format/example.hpp"

namespace sluice::lib::cli {
namespace {

std::vector<std::string> split_names(const std::string& list) {
  std::vector<std::string> names = absl::StrSplit(list, ',', absl::SkipEmpty());
  if (names.empty())
    throw misuse("select: needs names with commas between them, as in: sluice select id,city people.csv");
  return names;
}

/// Returns "nothing is named lable; did you mean label?" or "nothing is named x; the names are label, text"
status unknown_name(std::string_view name, const std::vector<std::string>& known, const element_type& in) {
  std::string list;
  for (auto& k : known) absl::StrAppend(&list, list.empty() ? "" : ", ", k);
  std::string message = absl::StrCat("nothing is named ", std::string(name));
  const std::string similar = detail::did_you_mean(std::string(name), known);
  if (known.empty()) return invalid_argument_error(absl::StrCat(message, ": ", in.name, " has no members"));
  return invalid_argument_error(
      absl::StrCat(message, similar.empty() ? absl::StrCat("; the names are ", list) : similar));
}

std::vector<std::string> names_of(const std::vector<member>& members) {
  std::vector<std::string> names;
  for (auto& m : members) names.push_back(m.name);
  return names;
}

/// Returns the member whose name equals `path` or its beginning up to a dot; the longest such name. Returns null if no
/// name matches.
const member* leading_member(const element_type& row, std::string_view path) {
  const member* found = nullptr;
  for (auto& m : row.members) {
    bool begins = path.starts_with(m.name) && (path.size() == m.name.size() || path[m.name.size()] == '.');
    if (begins && (!found || m.name.size() > found->name.size())) found = &m;
  }
  return found;
}
std::string_view behind(const member& m, std::string_view path) {
  return path.substr(std::min(path.size(), m.name.size() + 1));
}

class selecting_sink final : public line_sink {
 public:
  explicit selecting_sink(std::vector<std::string> names) : names_(std::move(names)) {}

 protected:
  status print_line(const element_type& type, const void* element, std::string& text) override {
    json_of_ = nullptr;
    char before = '{';
    for (const std::string& name : names_) {
      text += before;
      before = ',';
      print_json_name(name, text);
      text += ':';
      status why = print_at(type, element, name, text);
      if (!why.ok()) return why;
    }
    text += '}';
    return {};
  }

 private:
  /// Appends the value at `path`, the names of members with dots between them. For an empty path, appends all of `p`.
  status print_at(const element_type& type, const void* p, std::string_view path, std::string& text) {
    if (type.has_members() && !path.empty()) {
      const member* m = leading_member(type, path);
      if (!m) return unknown_name(path, names_of(type.members), type);
      return print_at(*m->type, static_cast<const char*>(p) + m->offset, behind(*m, path), text);
    }
    status why = show(type, p, path.empty());
    if (!why.ok()) return why;
    if (path.empty()) {
      text += json_;
      return {};
    }
    std::string_view value = value_within(type, path);
    if (value.empty()) {
      // A tf.Example may lack features, but a name that the first one lacks is more likely wrong.
      if (!type.text || record() == 0) return unknown_name(path, known_names(), type);
      value = "null";
    }
    text.append(value);
    return {};
  }

  /// Sets `json_` to the JSON of `p`; for a text, to that of the tf.Example that it contains. `or_raw`: a text that
  /// contains none is printed as a text.
  status show(const element_type& type, const void* p, bool or_raw) {
    if (json_of_ == p) return {};
    json_.clear();
    if (type.text) {
      auto example = example_to_json(type.text(p));
      if (example.ok() && record() == 0 && !may_be_example(type.text(p)))
        example = data_loss_error("the record is no tf.Example: none of its features has values");
      if (example.ok()) json_ = std::move(*example);
      else if (!or_raw)
        return status(example.why().code(), absl::StrCat(std::string(example.why().message()),
                                                         "; `sluice head` prints the records as they are"));
    }
    if (json_.empty()) print(type, p, json_);
    json_of_ = p;
    return {};
  }
  /// The columns of a batch of pairs or tuples form an array, in their order.
  std::string_view value_within(const element_type& type, std::string_view path) const {
    if (type.kind != kind::batch || type.element->kind == kind::structure || !type.element->has_members())
      return json_at(json_, path);
    const member* column = leading_member(*type.element, path);
    if (!column || path != column->name) return {};
    return items_of_json(json_)[static_cast<std::size_t>(column - type.element->members.data())];
  }
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
  const void* json_of_ = nullptr;  ///< the value whose JSON that is; null: no value of this element
};

/// Checks a name against the types before any element is read; `path` is "user.name".
status check_name(const element_type& type, const std::string& path) {
  const element_type* at = &type;
  for (std::string_view rest = path; !rest.empty();) {
    const element_type& row = at->kind == kind::batch ? *at->element : *at;
    bool is_known_later = row.text || row.kind == kind::maybe || row.kind == kind::named;
    if (!row.has_members() && is_known_later && at == &row) return {};
    const member* found = leading_member(row, rest);
    if (!found) return unknown_name(rest, names_of(row.members), *at);
    if (at != &row) return {};  // a column, which is checked when it is printed
    rest = behind(*found, rest);
    at = found->type;
  }
  return {};
}

}  // namespace

int select(const select_arguments& a) {
  if (is_file(a.names) && !names_data(a.plan_or_file) && a.plan_file.empty())
    throw misuse(
        absl::StrCat("select: the names come first, then the file: sluice select ", a.plan_or_file, " ", a.names));
  if (a.plan_file.empty()) refuse_folder(a.plan_or_file, absl::StrCat("select ", shell_word(a.names)));
  std::vector<std::string> chosen = split_names(a.names);
  node_ptr of = a.plan_file.empty() ? plan_or_reader(a.plan_or_file, a.format) : plan_in_file(a.plan_file);
  const quarantine_locks kept = check_errors(*of, a.errors);
  for (auto& name : chosen) {
    const std::string trimmed(absl::StripAsciiWhitespace(name));
    if (!trimmed.empty() && !check_name(*of->type, name).ok()) name = trimmed;  // select 'id, city'
    status why = check_name(*of->type, name);
    if (!why.ok()) throw misuse(absl::StrCat("select: ", std::string(why.message())));
  }
  for (const auto& name : chosen)
    if (std::count(chosen.begin(), chosen.end(), name) > 1)
      throw misuse(absl::StrCat("select: ", name, " is named twice: name each column once"));
  runtime rt(runtime_of(a.reading));
  add_remote_files(rt);
  selecting_sink sink(chosen);
  if (a.plan_file.empty() && names_data(a.plan_or_file)) sink.begin(a.plan_or_file);
  pull_counts counts;
  pull_request request;
  iterate_options o;
  set_errors(a.errors, o);
  o.rules = rules_of({});
  request.stream = open_run(rt, of, o);
  request.sink = &sink;
  request.counts = &counts;
  request.limit = a.limit;
  pull_outcome out = sync_wait(rt, pull(&request));
  report_dropped(out.report);
  if (!out.why.ok()) throw_status(out.why);
  return kOk;
}

}  // namespace sluice::lib::cli
