// SPDX-License-Identifier: Apache-2.0
// From files to batches of structs; what goes wrong says where.
//
//   example_03_files                   writes two small files below a temporary folder first
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "sluice/sluice.hpp"

using namespace sluice;

struct reading {
  std::string station;
  double celsius = 0;
};

/// Registered below: its name is in the plan's text and in errors.
reading read_one(const slice& line) {
  std::string_view text(line.data(), line.size());
  std::size_t comma = text.find(',');
  if (comma == text.npos) throw error(data_loss_error("no comma in '" + std::string(text) + "'"));
  return {std::string(text.substr(0, comma)), std::stod(std::string(text.substr(comma + 1)))};
}
SLUICE_FUNCTION(parse_reading, &read_one);

task<void> print_batches(stream<batched<reading>> s) {
  while (auto b = co_await s.next()) {  // a batch of structs is a struct of columns
    auto stations = (*b)[&reading::station];
    auto celsius = (*b)[&reading::celsius];
    for (std::size_t i = 0; i != celsius.size(); ++i)
      std::printf("%.*s %.1f  ", static_cast<int>(stations[i].size()), stations[i].data(), celsius[i]);
    std::printf("\n");
  }
}

int main() {
  auto folder = std::filesystem::temp_directory_path() / "sluice_03_files";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "a.csv") << "Ulm,3.5\nOslo,-4\nRoma,14.5\n";
  std::ofstream(folder / "b.csv") << "Kyiv,1\nthis is no reading\nBern,5.5\n";

  runtime rt;
  auto ds =
      list_files((folder / "*.csv").string()) | interleave(lines, {.cycle_length = 2}) | map(parse_reading) | batch(2);
  try {
    sync_wait(rt, print_batches(ds.iterate(rt)));
  } catch (const error& e) { std::printf("stopped by %s\n", e.what()); }

  auto patient = ds.iterate(rt, {.on_error = error_policy::skip});
  sync_wait(rt, print_batches(std::move(patient)));
  std::filesystem::remove_all(folder);
}
