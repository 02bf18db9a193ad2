// SPDX-License-Identifier: Apache-2.0
#include "sluice/coro/position.hpp"

#include "sluice/base/assert.hpp"

#include <algorithm>
#include <cstring>

namespace sluice::lib {
namespace {

/// Returns the number of bytes that a number takes.
std::size_t size_of(std::uint64_t value) {
  std::size_t n = 1;
  for (; value >= 128; value >>= 7) ++n;
  return n;
}

constexpr std::uint32_t kPerChunk = 64;
}  // namespace

struct decision_log::chunk {
  std::atomic<std::uint32_t> count{0};
  std::uint64_t values[kPerChunk];
  std::shared_ptr<chunk> next;  // published before count reaches kPerChunk + 1

  /// Destroys the following chunks in a loop: by default each chunk would destroy the next one recursively, and a
  /// long log would overflow the stack.
  ~chunk() {
    auto rest = std::move(next);
    while (rest && rest.use_count() == 1) {
      std::atomic_thread_fence(
          std::memory_order_acquire);  // makes the writes of the thread that released the last other reference visible
      rest = std::move(rest->next);
    }
  }
};

decision_log::decision_log() : tail_(std::make_shared<chunk>()) {}

decision_log::place decision_log::here() const {
  place p;
  p.chunk_ = tail_;
  p.offset_ = tail_->count.load(std::memory_order_relaxed);  // this thread is the only writer
  return p;
}

void decision_log::add(std::uint64_t value) {
  std::uint32_t n = tail_->count.load(std::memory_order_relaxed);
  if (n == kPerChunk) {
    auto fresh = std::make_shared<chunk>();
    fresh->values[0] = value;
    fresh->count.store(1, std::memory_order_relaxed);
    std::atomic_store_explicit(&tail_->next, fresh, std::memory_order_release);  // readers follow `next` only when set
    tail_ = std::move(fresh);
    return;
  }
  tail_->values[n] = value;
  tail_->count.store(n + 1, std::memory_order_release);  // a reader that sees n + 1 sees the value
}

std::vector<std::uint64_t> decision_log::place::read() const {
  std::vector<std::uint64_t> values;
  std::uint32_t offset = offset_;
  for (auto c = chunk_; c; offset = 0) {
    // `next` is read before `count`: if it is set, the chunk is full and `count` final. In the other order, values that
    // the writer adds between the two reads would be missing.
    auto next = std::atomic_load_explicit(&c->next, std::memory_order_acquire);
    std::uint32_t n = c->count.load(std::memory_order_acquire);
    values.insert(values.end(), c->values + offset, c->values + n);
    c = std::move(next);
  }
  return values;
}

bool decision_log::place::empty() const {
  if (!chunk_) return true;
  return chunk_->count.load(std::memory_order_acquire) <= offset_ && !std::atomic_load(&chunk_->next);
}

struct opening_log::entry {
  std::uint64_t number = 0;
  std::shared_ptr<const position_writer> opened_at;  ///< null: the beginning of the log
  bool resumed = false;
  std::shared_ptr<entry> next;

  /// Destroys in a loop, like decision_log's chunks.
  ~entry() {
    auto rest = std::move(next);
    while (rest && rest.use_count() == 1) {
      std::atomic_thread_fence(std::memory_order_acquire);
      rest = std::move(rest->next);
    }
  }
};

opening_log::opening_log() : tail_(std::make_shared<entry>()) {}

opening_log::place opening_log::here() const {
  place p;
  p.before_ = tail_;
  return p;
}

void opening_log::add(std::uint64_t number, std::shared_ptr<const position_writer> opened_at, bool resumed) {
  auto fresh = std::make_shared<entry>();
  fresh->number = number;
  fresh->opened_at = std::move(opened_at);
  fresh->resumed = resumed;
  std::atomic_store_explicit(&tail_->next, fresh, std::memory_order_release);
  tail_ = std::move(fresh);
}

struct position_writer::late {
  std::size_t at;
  std::shared_ptr<const position_writer> inner;  ///< null: the end of a log
  decision_log::place from;
  opening_log::place opened_from;  ///< empty: for a decision_log

  // The functions that write from the end to the beginning: `out` gets its bytes in that order. The length of a late
  // part stands in front of it and is known after it, so each byte is written once. From the beginning to the end, each
  // level of nested positions would copy all levels inside it.
  static void append_reversed(std::string_view bytes, position_writer& out) {
    out.bytes_.append(bytes.rbegin(), bytes.rend());
  }
  static void number_reversed(std::uint64_t value, position_writer& out) {
    position_writer w;
    w.number(value);
    append_reversed(w.bytes_, out);
  }
  static void text_reversed(const position_writer& inner, position_writer& out) {
    const std::size_t before = out.bytes_.size();
    write_reversed(inner, out);
    number_reversed(out.bytes_.size() - before, out);
  }
  static void write_reversed(const position_writer& w, position_writer& out);
};

position_writer::position_writer() = default;
position_writer::position_writer(const position_writer& other) = default;
position_writer::position_writer(position_writer&& other) noexcept = default;
position_writer& position_writer::operator=(const position_writer& other) = default;
position_writer& position_writer::operator=(position_writer&& other) noexcept = default;
position_writer::~position_writer() = default;

void position_writer::blob(std::shared_ptr<const position_writer> inner) {
  late_.push_back({bytes_.size(), std::move(inner), {}, {}});
}
void position_writer::log(decision_log::place from) { late_.push_back({bytes_.size(), nullptr, std::move(from), {}}); }
void position_writer::openings(opening_log::place from) {
  late_.push_back({bytes_.size(), nullptr, {}, std::move(from)});
}

bool position_writer::has_logs() const {
  return std::any_of(late_.begin(), late_.end(), [](const late& l) { return !l.inner || l.inner->has_logs(); });
}

bool position_writer::has_choices() const {
  for (const late& l : late_) {
    if (l.inner) {
      if (l.inner->has_choices()) return true;
    } else if (!l.opened_from.before_) {
      if (!l.from.empty()) return true;
    } else {
      auto e = std::atomic_load_explicit(&l.opened_from.before_->next, std::memory_order_acquire);
      for (; e; e = std::atomic_load_explicit(&e->next, std::memory_order_acquire))
        if (e->resumed || e->opened_at->has_choices()) return true;
    }
  }
  return false;
}

/// Called on the writer that gets its bytes from the end to the beginning.
void position_writer::write_openings(const opening_log::place& from) {
  std::vector<std::shared_ptr<const opening_log::entry>> chosen;
  auto e = std::atomic_load_explicit(&from.before_->next, std::memory_order_acquire);
  for (; e; e = std::atomic_load_explicit(&e->next, std::memory_order_acquire))
    if (e->resumed || e->opened_at->has_choices()) chosen.push_back(e);
  for (auto opened = chosen.rbegin(); opened != chosen.rend(); ++opened) {
    late::text_reversed(*(*opened)->opened_at, *this);
    late::number_reversed((*opened)->number, *this);
  }
  late::number_reversed(chosen.size(), *this);
}

void position_writer::append(const position_writer& other) {
  for (const late& l : other.late_) late_.push_back({l.at + bytes_.size(), l.inner, l.from, l.opened_from});
  bytes_ += other.bytes_;
}

void position_writer::append_first(const position_writer& other, std::size_t size_bytes) {
  for (const late& l : other.late_)
    if (l.at <= size_bytes) late_.push_back({l.at + bytes_.size(), l.inner, l.from, l.opened_from});
  bytes_.append(other.bytes_, 0, size_bytes);
}

void position_writer::append_after(const position_writer& other, std::size_t size_bytes) {
  for (const late& l : other.late_)
    if (l.at > size_bytes) late_.push_back({l.at - size_bytes + bytes_.size(), l.inner, l.from, l.opened_from});
  bytes_.append(other.bytes_, size_bytes);
}

void position_writer::record(const mark& m, std::uint64_t ordinal) {
  SLUICE_REQUIRES(ordinal >= m.ordinal, "a position does not lie before its mark");
  raw(&m.site, sizeof m.site);
  std::uint64_t to_pass = m.residual + (ordinal - m.ordinal);
  if (m.left_out) {
    const std::uint64_t from = ordinal - to_pass;  // the ordinal of the state
    ordinal -= std::min(ordinal, m.left_out);
    to_pass = ordinal - (from - std::min(from, m.left_out));
  }
  std::uint64_t pass_and_flag = to_pass << 1 | (m.version != 0);
  auto put_head = [&](position_writer& w) {
    w.number(ordinal);
    w.number(pass_and_flag);
    if (m.version) w.number(m.version);
  };
  // The upstream records begin with a site, which is never late; so a late part exactly at own_bytes is the stage's
  // own.
  bool own_is_late = !m.state.late_.empty() && m.state.late_.front().at <= m.own_bytes;
  if (!own_is_late) {
    number(size_of(ordinal) + size_of(pass_and_flag) + (m.version ? size_of(m.version) : 0) + m.own_bytes);
    put_head(*this);
    return append(m.state);
  }
  auto body = std::make_shared<position_writer>();
  put_head(*body);
  body->append_first(m.state, m.own_bytes);
  blob(std::move(body));
  append_after(m.state, m.own_bytes);
}

void position_writer::late::write_reversed(const position_writer& w, position_writer& out) {
  std::size_t end = w.bytes_.size();
  for (auto l = w.late_.rbegin(); l != w.late_.rend(); ++l) {
    append_reversed(std::string_view(w.bytes_).substr(l->at, end - l->at), out);
    end = l->at;
    if (l->inner) {
      text_reversed(*l->inner, out);
    } else if (l->opened_from.before_) {
      out.write_openings(l->opened_from);
    } else {
      const auto values = l->from.read();
      for (auto v = values.rbegin(); v != values.rend(); ++v) number_reversed(*v, out);
      number_reversed(values.size(), out);
    }
  }
  append_reversed(std::string_view(w.bytes_).substr(0, end), out);
}

std::string position_writer::bytes() const {
  if (late_.empty()) return bytes_;
  position_writer out;
  late::write_reversed(*this, out);
  std::reverse(out.bytes_.begin(), out.bytes_.end());
  return std::move(out.bytes_);
}

std::uint64_t position_reader::number() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) break;
    auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    value |= std::uint64_t{byte & 127u} << shift;
    if (byte < 128) return value;
  }
  fail();
  return 0;
}

std::string_view position_reader::text() {
  std::uint64_t n = number();
  if (n > rest_.size()) {
    fail();
    return {};
  }
  auto s = rest_.substr(0, n);
  rest_.remove_prefix(n);
  return s;
}

void position_reader::raw(void* data, std::size_t size_bytes) {
  if (size_bytes == 0) return;  // `data` may then be null
  if (size_bytes > rest_.size()) {
    fail();
    std::memset(data, 0, size_bytes);
    return;
  }
  std::memcpy(data, rest_.data(), size_bytes);
  rest_.remove_prefix(size_bytes);
}

std::size_t position_reader::count() {
  std::uint64_t n = number();
  if (n > rest_.size()) {
    fail();
    return 0;
  }
  return n;
}

status damaged_position() {
  return data_loss_error(
      "the checkpoint does not fit this plan, or is damaged; start without it, or from an older one");
}

}  // namespace sluice::lib
