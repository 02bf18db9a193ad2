// SPDX-License-Identifier: Apache-2.0
#include "output/data_folder.hpp"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <filesystem>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/files/whole_file.hpp"
#include "sluice/base/crc32c.hpp"
#include "sluice/base/small_file.hpp"

namespace sluice::lib {
namespace {

constexpr int kManifestVersion = 1;
constexpr std::size_t kManifestBytesMax = std::size_t{64} << 20;
constexpr std::string_view kSumWord = "crc32c ";
constexpr std::size_t kSumBytes = kSumWord.size() + 8 + 1;

std::string manifest_of(const std::string& folder) {
  return absl::StrCat(folder, names_data_folder(folder) ? "" : "/", std::string(kManifestName));
}

status damaged_manifest() {
  return data_loss_error(
      "the manifest of the data folder is damaged; write the folder again, or name the files and "
      "their format, as in jsonl(\"DIR/part*.jsonl\")");
}

/// A name that leads out of the folder is not accepted.
bool is_file_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == name.npos && name.find('\0') == name.npos;
}

}  // namespace

bool names_data_folder(std::string_view path) { return path.ends_with('/'); }

std::string manifest_text(const data_folder& d) {
  nlohmann::ordered_json files = nlohmann::ordered_json::array();
  for (const data_folder::file& f : d.files) files.push_back({{"name", f.name}, {"bytes", f.bytes}});
  nlohmann::ordered_json all{{"sluice_manifest", kManifestVersion},
                             {"state", d.is_complete ? "complete" : "partial"},
                             {"format", d.format},
                             {"compression", d.compression},
                             {"type", d.type},
                             {"elements", d.elements},
                             {"order", d.alternates ? "alternating" : "one after another"},
                             {"files", std::move(files)}};
  if (!d.origin.empty()) all["origin"] = d.origin;
  // Bytes of a name that are not UTF-8 would not be read back; such a folder cannot be loaded.
  std::string text = all.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  absl::StrAppend(&text, std::string(kSumWord), absl::StrFormat("%08x", crc32c(text)), "\n");
  return text;
}

result<data_folder> read_manifest_text(std::string_view text) {
  if (text.size() < kSumBytes) return damaged_manifest();
  const std::string_view json = text.substr(0, text.size() - kSumBytes);
  if (text.substr(json.size()) != absl::StrCat(std::string(kSumWord), absl::StrFormat("%08x", crc32c(json)), "\n"))
    return damaged_manifest();
  try {
    const auto all = nlohmann::json::parse(json);
    if (all.at("sluice_manifest") != kManifestVersion)
      return failed_precondition_error("the data folder was written by another version of sluice");
    data_folder d;
    d.is_complete = all.at("state") == "complete";
    d.format = all.at("format");
    d.compression = all.at("compression");
    d.type = all.at("type");
    d.elements = all.at("elements");
    d.alternates = all.at("order") == "alternating";
    for (const auto& f : all.at("files")) {
      d.files.push_back({f.at("name"), f.at("bytes")});
      if (!is_file_name(d.files.back().name)) return damaged_manifest();
    }
    if (all.contains("origin")) d.origin = all.at("origin");
    if (d.is_complete && d.files.empty()) return damaged_manifest();
    return d;
  } catch (const nlohmann::json::exception&) { return damaged_manifest(); }
}

result<data_folder> read_data_folder(const std::string& folder, std::string* text_read) {
  const std::string path = manifest_of(folder);
  auto text = read_small_file(path, kManifestBytesMax);
  if (!text.ok()) return text.why();
  if (text_read) *text_read = *text;
  auto d = read_manifest_text(*text);
  if (!d.ok()) return d.why().in_file(path);
  return d;
}

status write_manifest(const std::string& folder, const data_folder& d) {
  whole_file out;
  status why = out.begin(manifest_of(folder));
  if (why.ok()) why = out.write(manifest_text(d));
  return why.ok() ? out.finish() : why;
}

}  // namespace sluice::lib
