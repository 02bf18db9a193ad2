// SPDX-License-Identifier: Apache-2.0
// Plans in text over small files on the disk, and what they give as the program prints it.
#pragma once

#include <string>
#include <vector>

#include "sluice/base/error_policy.hpp"
#include "sluice/pipeline/iterate.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib::test {

/// A file in the folder of temporary ones, as long as it lives.
class temporary_file {
 public:
  temporary_file(const std::string& name, const std::string& bytes);
  ~temporary_file();
  temporary_file(const temporary_file&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct printed_run {
  std::vector<std::string> elements{};
  std::string end = "end";  ///< or the error
  run_report report{};
};

printed_run run_of(const node_ptr& plan, error_policy policy = error_policy::stop);

}  // namespace sluice::lib::test
