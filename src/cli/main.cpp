// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.hpp"

int main(int argc, char** argv) { return sluice::lib::cli::run_command_line(argc, argv); }
