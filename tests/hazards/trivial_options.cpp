// SPDX-License-Identifier: Apache-2.0
// Options without a destructor to run are safe even as a braced temporary: why our option structs are trivially copyable.
#include "trace.hpp"

struct options {
  int count = 0;
  int seed = 0;
};
lazy<int> open(counted path, options o) { co_return path.value + o.count + o.seed; }

lazy<int> body() {
  counted path(30);
  int got = co_await open(std::move(path), {.count = 10, .seed = 2});
  co_return got;
}

int main() {
  int got;
  {
    auto t = body();
    got = t.run();
  }
  return verdict(got == 42 && lives == 0, "destroyed twice");
}
