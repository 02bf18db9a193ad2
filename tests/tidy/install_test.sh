#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What `meson install` leaves behind is enough for a program outside of the tree: headers, library, pkg-config flags.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${SLUICE_BUILD:-$PWD/build}
if [ ! -f "$build/libsluice.a" ]; then
  echo "nothing was built yet in $build"
  echo "0 passed, 0 failed"
  exit 0
fi

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
DESTDIR=$place meson install -C "$build" --no-rebuild --tags devel >"$place/log" 2>&1 || { tail -5 "$place/log"; exit 1; }
cat >"$place/main.cpp" <<'END'
#include <cstdio>
#include <sluice/coro/task.hpp>

sluice::task<int> answer() {
  int n = 42;
  co_return n;
}

int main() {
  auto t = answer();
  t.get().resume();
  auto why = sluice::data_loss_error("torn").in_file("f", 3);
  std::printf("%d %s\n", *t.get().promise().value, why.to_string().c_str());
}
END
config=$(dirname "$(find "$place" -name sluice.pc)")
export PKG_CONFIG_PATH=$config PKG_CONFIG_SYSROOT_DIR=$place
cd "$place"
compiler=$(command -v clang++-19 || command -v g++-12)
read -ra flags <<<"$(pkg-config --cflags --libs sluice)"
"$compiler" -Wall -Wextra -Werror main.cpp "${flags[@]}" -o program
said=$(./program)
[ "$said" = "42 data_loss: f at byte 3: torn" ] || { echo "the program said: $said"; exit 1; }
