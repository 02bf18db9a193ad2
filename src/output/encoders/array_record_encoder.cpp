// SPDX-License-Identifier: Apache-2.0
// Encodes records as an ArrayRecord file with a chunk for each record (group_size:1), so that its readers find any record by
// one read. The places of the chunks are kept until the end; a checkpoint has them as differences.
#include <cstdint>
#include <utility>
#include <vector>

#include "format/riegeli/array_record_footer.hpp"
#include "output/encoders/element_encoder.hpp"
#include "sluice/coro/position.hpp"

namespace sluice::lib {
namespace {

constexpr int kArrayRecordLevel = 3;  // the default of the library of ArrayRecord

class array_record_encoder final : public element_encoder {
 public:
  array_record_encoder(const element_type& type, int level) : type_(type), level_(level) {}

  status begin(encoded& to) override {
    return caught([&] {
      writer_.begin(to.bytes);
      to.ends.push_back(to.bytes.size());
    });
  }
  status append(const char* elements, std::size_t n, encoded& to) override {
    return caught([&] {
      for (std::size_t i = 0; i != n; ++i) {
        const std::string_view bytes = type_.text(elements + i * type_.size);
        one_[0] = bytes;
        chunks_.offsets.push_back(writer_.append(one_, level_, to.bytes));
        chunks_.ends.push_back(chunks_.records() + 1);
        decoded_.push_back(bytes.size());
        to.ends.push_back(to.bytes.size());
      }
    });
  }
  status end(encoded& to) override {
    return caught([&] {
      append_array_record_end(writer_, chunks_, decoded_,
                              level_ == 0 ? "group_size:1,uncompressed" : "group_size:1,zstd:3", level_, to.bytes);
      to.ends.push_back(to.bytes.size());
    });
  }
  std::size_t kept_bytes() const override {
    // The footer is built in memory: a message of up to 30 bytes in a text for each chunk, and its bytes.
    constexpr std::size_t kKeptOfChunk = 3 * sizeof(std::uint64_t) + sizeof(std::string) + 2 * 32;
    return decoded_.size() * kKeptOfChunk;
  }
  std::string save() const override {
    position_writer w;
    w.number(writer_.offset());
    w.number(decoded_.size());
    std::uint64_t before = 0;
    for (std::size_t i = 0; i != decoded_.size(); ++i) {
      w.number(chunks_.offsets[i] - std::exchange(before, chunks_.offsets[i]));
      w.number(decoded_[i]);
    }
    return w.bytes();
  }
  status load(std::string_view bytes) override {
    position_reader r(bytes);
    writer_.set_offset(r.number());
    const std::size_t n = r.count();
    std::uint64_t offset = 0;
    for (std::size_t i = 0; i != n; ++i) {
      chunks_.offsets.push_back(offset += r.number());
      chunks_.ends.push_back(i + 1);
      decoded_.push_back(r.number());
    }
    return r.ok() && r.done() ? status() : damaged_position();
  }

 private:
  template <class F> static status caught(F f) {
    try {
      f();
      return {};
    } catch (...) { return current_exception_status(); }
  }

  const element_type& type_;
  const int level_;
  riegeli_writer writer_;
  array_record_chunks chunks_;
  std::vector<std::uint64_t> decoded_;
  std::vector<std::string_view> one_{1};
};

}  // namespace

std::unique_ptr<element_encoder> make_array_record_encoder(const element_type& type, compression codec) {
  return std::make_unique<array_record_encoder>(type, codec == compression::none ? 0 : kArrayRecordLevel);
}

}  // namespace sluice::lib
