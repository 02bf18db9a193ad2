// SPDX-License-Identifier: Apache-2.0
#include "sluice/format/deflate.hpp"

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <vector>

namespace sluice::lib {
namespace {

// ISA-L's level: about a tenth smaller than 1; 3 gains little more and takes half as long again
constexpr int kLevel = 2;
constexpr std::size_t kDeflatedPieceBytes = std::size_t{64} << 10;
/// The largest input of one step. The stream counts its input in 32 bits.
constexpr std::size_t kDeflatedAtOnce = std::size_t{1} << 30;

}  // namespace

struct deflater::state {
  state() : level_memory(ISAL_DEF_LVL2_DEFAULT) { begin(); }
  void begin() {
    ::isal_deflate_init(&stream);
    stream.level = kLevel;
    stream.level_buf = level_memory.data();
    stream.level_buf_size = static_cast<std::uint32_t>(level_memory.size());
    stream.gzip_flag = IGZIP_GZIP;
    stream.flush = NO_FLUSH;
    is_in_member = false;
  }
  /// Compresses all of `plain`.
  void step(std::string_view plain, bool last, std::string& out) {
    stream.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(plain.data()));
    stream.avail_in = static_cast<std::uint32_t>(plain.size());
    stream.end_of_stream = last;
    do {
      const std::size_t at = out.size();
      out.resize(at + kDeflatedPieceBytes);
      stream.next_out = reinterpret_cast<std::uint8_t*>(out.data() + at);
      stream.avail_out = static_cast<std::uint32_t>(kDeflatedPieceBytes);
      ::isal_deflate(&stream);  // it cannot fail with these parameters
      out.resize(at + kDeflatedPieceBytes - stream.avail_out);
    } while (last ? stream.internal_state.state != ZSTATE_END : stream.avail_in != 0 || stream.avail_out == 0);
  }

  std::vector<std::uint8_t> level_memory;
  isal_zstream stream;
  bool is_in_member = false;
};

deflater::deflater() : state_(std::make_unique<state>()) {}
deflater::deflater(deflater&&) noexcept = default;
deflater& deflater::operator=(deflater&&) noexcept = default;
deflater::~deflater() = default;

void deflater::append(std::string_view plain, std::string& out) {
  while (!plain.empty()) {
    const std::string_view piece = plain.substr(0, kDeflatedAtOnce);
    state_->is_in_member = true;
    state_->step(piece, false, out);
    plain.remove_prefix(piece.size());
  }
}

void deflater::end_member(std::string& out) {
  state_->step({}, true, out);
  state_->begin();
}

bool deflater::is_in_member() const noexcept { return state_->is_in_member; }

}  // namespace sluice::lib
