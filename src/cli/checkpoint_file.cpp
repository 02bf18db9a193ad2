// SPDX-License-Identifier: Apache-2.0
#include "cli/checkpoint_file.hpp"

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iterator>

namespace sluice::cli {

std::string read_checkpoint(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw_status(errno_error(errno, "cannot read the checkpoint").in_file(path));
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  if (bytes.empty()) throw_status(data_loss_error("the checkpoint is empty").in_file(path));
  return bytes;
}

status write_checkpoint(const std::string& path, const std::string& bytes) {
  std::string partial = path + ".partial";
  {
    std::ofstream out(partial, std::ios::binary);
    out << bytes << std::flush;
    if (!out) return errno_error(errno, "cannot write the checkpoint").in_file(partial);
  }
  return std::rename(partial.c_str(), path.c_str()) == 0 ? status()
                                                         : errno_error(errno, "cannot rename into place").in_file(path);
}

}  // namespace sluice::cli
