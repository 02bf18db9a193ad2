// SPDX-License-Identifier: Apache-2.0
#include "engine/quarantine/quarantine_entry.hpp"

#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "engine/lowering/error_gate.hpp"
#include "format/example/wire.hpp"
#include "sluice/base/hash.hpp"
#include "sluice/element/type.hpp"
#include "sluice/format/example.hpp"
#include "sluice/format/tfrecord_frames.hpp"

namespace sluice::lib {
namespace {

/// The first bytes of the entry of feature "error" in a tf.Example. Entries are recognized by them, so that the reader
/// of whole examples need not be linked.
constexpr std::string_view kFirstFeature =
    "\x0a\x05"
    "error";
/// The first member of the run. In JSON no text contains these bytes, because quotes in it are escaped.
constexpr std::string_view kRunMember = ",\"seed\":";
constexpr std::string_view kRunFeature = "seed";

/// Writes one entry, member by member, in either form.
class entry_writer {
 public:
  explicit entry_writer(bool json) : json_(json) {}
  void text(std::string_view name, std::string_view value) {
    if (!json_) {
      example_.bytes(name, value);
      return;
    }
    begin(name);
    print_json_text(value, line_);
  }
  void number(std::string_view name, std::uint64_t value) {
    if (!json_) {
      example_.int64(name, static_cast<std::int64_t>(value));
      return;
    }
    begin(name);
    absl::StrAppend(&line_, value);
  }
  void known(std::string_view name, std::uint64_t value) {
    if (value != provenance::kUnknown) number(name, value);
  }
  /// Returns the entry in the form in which the file stores it.
  std::string finish() {
    if (json_) return line_ + "}\n";
    std::string framed;
    append_tfrecord(framed, example_.finish());
    return framed;
  }

 private:
  void begin(std::string_view name) {
    absl::StrAppend(&line_, line_.empty() ? "{\"" : ",\"", std::string(name), "\":");
  }
  bool json_;
  std::string line_;
  example_writer example_;
};

/// Reads field 1, which has bytes, as all fields around the name of a feature are. Returns false for another field.
bool read_first_field(detail::wire_reader& from, std::string_view& bytes) {
  std::uint32_t tag = 0;
  return from.tag(tag) && tag == detail::tag_of(1, detail::kBytes) && from.bytes(bytes);
}

/// Returns the features before those of the run. Of bytes that are no example, all.
std::string_view compared_features(std::string_view example) {
  detail::wire_reader message(example);
  std::string_view features, feature, name;
  if (!read_first_field(message, features)) return example;
  for (detail::wire_reader rest(features); !rest.done();) {
    const auto at = static_cast<std::size_t>(rest.position() - features.data());
    if (!read_first_field(rest, feature)) return example;
    detail::wire_reader entry(feature);
    if (!read_first_field(entry, name)) return example;
    if (name == kRunFeature) return features.substr(0, at);
  }
  return features;
}

status_code code_named(std::string_view name) {
  for (int c = static_cast<int>(status_code::cancelled); c <= static_cast<int>(status_code::unauthenticated); ++c)
    if (to_string(static_cast<status_code>(c)) == name) return static_cast<status_code>(c);
  return status_code::unknown;
}

/// Reads the members of an entry, in either form.
class member_reader {
 public:
  virtual ~member_reader() = default;
  virtual bool text(const char* name, std::string& to) const = 0;
  virtual bool number(const char* name, std::uint64_t& to) const = 0;
};

class json_members final : public member_reader {
 public:
  explicit json_members(const nlohmann::json& object) : object_(object) {}
  bool text(const char* name, std::string& to) const override {
    const auto found = object_.find(name);
    if (found == object_.end()) return false;
    if (found->is_string()) to = found->get<std::string>();
    else if (!absl::Base64Unescape(found->at("base64").get<std::string>(), &to)) return false;
    return true;
  }
  bool number(const char* name, std::uint64_t& to) const override {
    const auto found = object_.find(name);
    if (found == object_.end() || !found->is_number_integer()) return false;
    to = found->get<std::uint64_t>();
    return true;
  }

 private:
  const nlohmann::json& object_;
};

class example_members final : public member_reader {
 public:
  explicit example_members(const std::map<std::string, feature_values, std::less<>>& all) : all_(all) {}
  bool text(const char* name, std::string& to) const override {
    const auto found = all_.find(name);
    if (found == all_.end() || found->second.bytes.empty()) return false;
    to = found->second.bytes[0];
    return true;
  }
  bool number(const char* name, std::uint64_t& to) const override {
    const auto found = all_.find(name);
    if (found == all_.end() || found->second.int64s.empty()) return false;
    to = static_cast<std::uint64_t>(found->second.int64s[0]);
    return true;
  }

 private:
  const std::map<std::string, feature_values, std::less<>>& all_;
};

result<stored_error> error_in(const member_reader& members) {
  std::string message, code, stage, file, cut;
  if (!members.text("error", message)) return data_loss_error("the entry has no error");
  members.text("code", code);
  members.text("stage", stage);
  members.text("file", file);
  provenance at;
  members.number("offset", at.offset_bytes);
  members.number("record", at.record_index);
  members.number("element", at.element);
  stored_error e;
  members.number("times", e.times);
  e.has_bytes = members.text("bytes", e.bytes);
  e.is_cut = members.text("cut", cut);
  members.text("split", e.split);
  members.text("worker", e.worker);
  e.has_place = members.number("seed", e.at.seed);
  members.number("delivered", e.at.delivered);
  members.text("position", e.at.position);
  members.text("plan", e.at.plan);
  e.why = status(code_named(code), message).in_file(file, at.offset_bytes, at.record_index).in_stage(stage, at.element);
  return e;
}

}  // namespace

std::string entry_of(const dropped_error& e, const run_place* at, bool json) {
  const provenance& where = e.why.where();
  entry_writer w(json);
  w.text("error", e.why.message());
  w.text("code", to_string(e.why.code()));
  if (!where.stage.empty()) w.text("stage", where.stage);
  if (!where.file.empty()) w.text("file", where.file);
  w.known("offset", where.offset_bytes);
  w.known("record", where.record_index);
  w.known("element", where.element);
  if (e.times > 1) w.number("times", e.times);
  if (e.bytes) w.text("bytes", *e.bytes);
  if (e.bytes && e.bytes->size() == error_gate::kKeptBytesMax) w.text("cut", "these are the first bytes of it");
  if (e.on) w.text("split", e.split());
  if (at) {
    w.number("seed", at->seed);
    if (e.on) w.text("worker", e.worker());
    w.number("delivered", at->delivered);
    if (!at->position.empty() && at->position.size() <= kPlacePartBytesMax) w.text("position", at->position);
    if (!at->plan.empty() && at->plan.size() <= kPlacePartBytesMax) w.text("plan", at->plan);
  }
  return w.finish();
}

std::uint64_t key_of_entry(std::string_view entry, bool json) {
  if (json) {
    const std::size_t run = entry.find(kRunMember);
    if (run != entry.npos) entry = entry.substr(0, run);
    else if (entry.ends_with("}\n")) entry.remove_suffix(2);
    return stable_hash(entry);
  }
  std::string_view record;
  const tfrecord_scan s = scan_tfrecords({.bytes = entry}, &record, 1);
  return stable_hash(compared_features(s.records == 1 ? record : entry));
}

bool is_example_of_entry(std::string_view record) { return record.find(kFirstFeature) != record.npos; }

result<stored_error> read_entry(std::string_view entry, bool json) {
  if (!json) {
    const auto all = read_example(entry);
    if (!all.ok()) return all.why();
    return error_in(example_members(*all));
  }
  try {
    const nlohmann::json object = nlohmann::json::parse(entry);
    return error_in(json_members(object));
  } catch (const nlohmann::json::exception&) {
    return data_loss_error("the entry is no line of JSON as it was written");
  }
}

}  // namespace sluice::lib
