// SPDX-License-Identifier: Apache-2.0
#include "service/core/messages.hpp"

#include <absl/strings/str_cat.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>

#include "service/core/store_records.hpp"
#include "sluice/base/reflect.hpp"

namespace sluice::lib {
namespace {

using message_json = nlohmann::ordered_json;

constexpr std::string_view kShardings[] = {"off", "dynamic", "file", "data", "file_or_data", "hint"};
constexpr std::string_view kSplitAnswers[] = {"split", "wait", "end"};
constexpr std::string_view kPlaceAnswers[] = {"placed", "wait", "removed"};
constexpr const auto& words_of(sharding) { return kShardings; }
constexpr const auto& words_of(split_answer) { return kSplitAnswers; }
constexpr const auto& words_of(place_answer) { return kPlaceAnswers; }

template <class T> constexpr bool is_list = false;
template <class T> constexpr bool is_list<std::vector<T>> = true;
template <class T> constexpr bool is_optional = false;
template <class T> constexpr bool is_optional<std::optional<T>> = true;

template <class T> message_json json_of(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return std::string(words_of(value)[static_cast<std::size_t>(value)]);
  } else if constexpr (is_optional<T>) {
    return value ? json_of(*value) : message_json();
  } else if constexpr (is_list<T>) {
    message_json all = message_json::array();
    for (const auto& item : value) all.push_back(json_of(item));
    return all;
  } else if constexpr (reflectable<T>) {
    message_json all = message_json::object();
    std::size_t i = 0;
    const auto add = [&](const auto& member) {
      message_json j = json_of(member);
      if (!j.is_null()) all[std::string(member_names<T>[i])] = std::move(j);
      ++i;
    };
    with_members(value, [&](const auto&... members) { (add(members), ...); });
    return all;
  } else {
    return value;
  }
}

/// Reads a value into `to`. Returns what is expected instead, or an empty text; `path` names the member.
template <class T> std::string read_json(const message_json& from, T& to, std::string& path) {
  if constexpr (std::is_same_v<T, bool>) {
    if (!from.is_boolean()) return "true or false";
    to = from.get<bool>();
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!from.is_string()) return "a text";
    to = from.get<std::string>();
  } else if constexpr (std::is_integral_v<T>) {
    if (!from.is_number_unsigned() || from.get<std::uint64_t>() > std::numeric_limits<T>::max())
      return absl::StrCat("a whole number from 0 to ", std::numeric_limits<T>::max());
    to = static_cast<T>(from.get<std::uint64_t>());
  } else if constexpr (std::is_enum_v<T>) {
    std::string known;
    for (std::size_t i = 0; i < std::size(words_of(to)); ++i) {
      const std::string_view word = words_of(to)[i];
      if (from.is_string() && from.get_ref<const std::string&>() == word) {
        to = static_cast<T>(i);
        return {};
      }
      absl::StrAppend(&known, i ? ", " : "one of ", std::string(word));
    }
    return known;
  } else if constexpr (is_optional<T>) {
    if (!from.is_null()) return read_json(from, to.emplace(), path);
  } else if constexpr (is_list<T>) {
    if (!from.is_array()) return "a list";
    const std::size_t length = path.size();
    to.reserve(from.size());
    for (const message_json& item : from) {
      absl::StrAppend(&path, "[", to.size(), "]");
      if (std::string expected = read_json(item, to.emplace_back(), path); !expected.empty()) return expected;
      path.resize(length);
    }
  } else {
    if (!from.is_object()) return "an object";
    std::string expected;
    std::size_t i = 0;
    const auto read = [&](auto& member) {
      const std::string name(member_names<T>[i++]);
      if (!expected.empty()) return;
      const auto found = from.find(name);
      const std::size_t length = path.size();
      absl::StrAppend(&path, path.empty() ? "" : ".", name);
      if (found != from.end()) {
        expected = read_json(*found, member, path);
      } else if constexpr (!is_optional<std::remove_reference_t<decltype(member)>>) {
        expected = "a value, and it is missing";
      }
      if (expected.empty()) path.resize(length);
    };
    with_members(to, [&](auto&... members) { (read(members), ...); });
    return expected;
  }
  return {};
}

/// The name of a message in errors.
template <class Message> constexpr std::string_view kMessageName = "";
#define SLUICE_CALL(name)                                                      \
  template <> constexpr std::string_view kMessageName<name##_request> = #name; \
  template <> constexpr std::string_view kMessageName<name##_reply> = #name " (reply)";
SLUICE_SERVICE_CALLS(SLUICE_CALL)
#undef SLUICE_CALL
template <> constexpr std::string_view kMessageName<read_request> = "read";
template <> constexpr std::string_view kMessageName<measured_request> = "measured";
template <> constexpr std::string_view kMessageName<dataset_info> = "dataset";
template <> constexpr std::string_view kMessageName<epoch_record> = "record of the epoch";
template <> constexpr std::string_view kMessageName<job_record> = "record of a job";
template <> constexpr std::string_view kMessageName<iteration_record> = "record of an iteration";
template <> constexpr std::string_view kMessageName<round_record> = "record of a round";
template <> constexpr std::string_view kMessageName<consumer_record> = "record of a consumer";

}  // namespace

std::string_view to_string(sharding mode) { return kShardings[static_cast<std::size_t>(mode)]; }

/// Texts of other processes may contain bytes that are not UTF-8, such as names of files: these become U+FFFD.
template <class Message> std::string to_json(const Message& m) {
  return json_of(m).dump(-1, ' ', false, message_json::error_handler_t::replace);
}

template <class Message> result<Message> from_json(std::string_view text) {
  const message_json all = message_json::parse(text, nullptr, false);
  const auto refuse = [](const std::string& why) {
    return invalid_argument_error(absl::StrCat("not a message '", std::string(kMessageName<Message>), "': ", why));
  };
  if (!all.is_object()) return refuse("a JSON object is expected");
  Message m;
  std::string path;
  const std::string expected = read_json(all, m, path);
  if (!expected.empty()) return refuse(absl::StrCat(path, " must be ", expected));
  return m;
}

#define SLUICE_MESSAGE(type)                   \
  template std::string to_json(const type& m); \
  template result<type> from_json<type>(std::string_view text);
#define SLUICE_CALL(name) SLUICE_MESSAGE(name##_request) SLUICE_MESSAGE(name##_reply)
SLUICE_SERVICE_CALLS(SLUICE_CALL)
SLUICE_MESSAGE(read_request)
SLUICE_MESSAGE(measured_request)
SLUICE_MESSAGE(dataset_info)
SLUICE_MESSAGE(epoch_record)
SLUICE_MESSAGE(job_record)
SLUICE_MESSAGE(iteration_record)
SLUICE_MESSAGE(round_record)
SLUICE_MESSAGE(consumer_record)
#undef SLUICE_CALL
#undef SLUICE_MESSAGE

result<service_request> request_from_json(std::string_view method, std::string_view text) {
#define SLUICE_CALL(name)                           \
  if (method == #name) {                            \
    auto request = from_json<name##_request>(text); \
    if (!request.ok()) return request.why();        \
    return service_request(std::move(*request));    \
  }
  SLUICE_SERVICE_CALLS(SLUICE_CALL)
#undef SLUICE_CALL
  return unimplemented_error(absl::StrCat("a dispatcher has no method '", std::string(method), "'"));
}

std::string reply_to_json(const service_reply& reply) {
  return std::visit([](const auto& r) { return to_json(r); }, reply);
}

}  // namespace sluice::lib
