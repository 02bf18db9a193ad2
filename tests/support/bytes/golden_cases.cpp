// SPDX-License-Identifier: Apache-2.0
#include "support/bytes/golden_cases.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "sluice/format/inflate.hpp"

namespace sluice::lib::test {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

fs::path golden_images() {
  for (auto from : {fs::absolute(__FILE__).parent_path(), fs::current_path()})
    for (; from.has_relative_path(); from = from.parent_path())
      for (const char* below : {"golden/images", "tests/golden/images"})
        if (fs::exists(from / below / "cases.json")) return from / below;
  throw std::runtime_error("tests/golden/images is not to be found");
}

golden_cases::golden_cases() : bytes_(content(golden_images() / "bytes.bin")) {
  cases_ = nlohmann::json::parse(content(golden_images() / "cases.json")).at("cases");
  corrections_ = nlohmann::json::parse(content(golden_images() / "corrections.json"));
}

const nlohmann::json* golden_cases::correction_of(const nlohmann::json& wanted) const {
  for (auto& c : corrections_)
    if (c.at("call") == wanted.at("call") && c.at("name") == wanted.at("name") &&
        c.at("encoded") == wanted.at("encoded"))
      return &c;
  return nullptr;
}

std::vector<const nlohmann::json*> golden_cases::of(std::string_view call) const {
  std::vector<const nlohmann::json*> found;
  for (auto& c : cases_)
    if (c.at("call") == call) found.push_back(&c);
  return found;
}

std::string_view golden_cases::blob(const nlohmann::json& place) const {
  return std::string_view(bytes_).substr(place.at(0).get<std::size_t>(), place.at(1).get<std::size_t>());
}

std::string golden_cases::inflated(const nlohmann::json& place) const {
  const std::string_view in = blob(place);
  inflater z(compression::zlib);
  std::string plain, out(1 << 16, '\0');
  for (std::size_t at = 0;;) {
    auto s = z.step(in.substr(at), true, out.data(), out.size());
    if (!s.why.ok()) throw std::runtime_error(s.why.to_string());
    plain.append(out, 0, s.produced);
    at += s.consumed;
    if (s.ended) return plain;
  }
}

std::string golden_cases::pixels_of(const nlohmann::json& answer) const {
  const nlohmann::json& pixels = answer.at("pixels");
  if (!pixels.is_string()) return inflated(pixels);
  const std::string hex = pixels;
  std::string plain;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    plain += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return plain;
}

}  // namespace sluice::lib::test
