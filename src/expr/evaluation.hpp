// SPDX-License-Identifier: Apache-2.0
// The evaluation of expressions. Each part is computed for up to kChunk elements at a time, so that its loop is
// compiled for its types and the intermediate values stay in the first caches.
//
// The values of a part are consecutive *registers*. A number or bool is stored as itself, a text as a std::string_view,
// a list or array as a span_value, and any other value as a const void* to the object.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/status.hpp"
#include "sluice/element/type.hpp"
#include "sluice/expr/expression.hpp"

namespace sluice::lib {
class column;
}

namespace sluice::lib::expressions {

/// The number of elements computed at a time.
inline constexpr std::uint32_t kChunk = 256;

/// The items of a list.
struct span_value {
  const char* data = nullptr;
  std::size_t n = 0;
};

enum class register_form : std::uint8_t { value, text, span, object };
register_form register_form_of(const element_type& t);
/// Returns the size of one register in bytes.
std::size_t register_bytes(const element_type& t);

/// The bytes that the values of a run of several elements may take at the same time. Runs of elements with large values
/// are shorter than kChunk.
inline constexpr std::size_t kRunBytes = std::size_t{1} << 20;

/// Thrown if a value cannot be computed.
struct bad_value {
  std::string why;
  status own_status = {};  ///< an error of another code than invalid_argument; ok if only `why` is set
};
/// Thrown if the values of several elements take more than kRunBytes. The caller retries with fewer elements.
struct too_heavy {
  std::size_t largest;  ///< the size of the largest value, in bytes
};
/// A bad_value with the element's number within the chunk.
struct failed_at {
  std::uint32_t element;
  std::string why;
  status own_status = {};  ///< the error of a registered function; ok if only `why` is set
};

/// The elements of a chunk that a part is computed for, in ascending order.
struct selection {
  const std::uint32_t* at;  ///< null: the elements 0, 1, 2 …
  std::uint32_t n;
  std::uint32_t element(std::uint32_t i) const { return at ? at[i] : i; }
};

/// Returns true if a register of this type is the value itself and refers to nothing.
inline bool is_number(const element_type& t) { return t.kind == kind::scalar; }

/// One chunk of elements, and the memory that its computation uses.
class evaluation {
 public:
  evaluation(const element_type& type, std::uint64_t seed) : stride_(type.size), seed_(seed) {}
  evaluation(const evaluation&) = delete;
  ~evaluation() { forget(); }

  /// Continues with the `n` elements at `elements`. `ordinal`: the number of the first element.
  void start(char* elements, std::uint32_t n, std::uint64_t ordinal) {
    forget();
    elements_ = elements;
    rows_ = nullptr;
    ordinal_ = ordinal;
    n_ = n;
    peak_ = largest_ = 0;
    shared_ = 0;
  }
  /// Continues with the `n` rows of a column from `first` on, which are only read.
  void start_rows(const column& rows, std::size_t first, std::uint32_t n, std::uint64_t ordinal) {
    start(nullptr, n, ordinal);
    rows_ = &rows;
    first_row_ = first;
  }
  /// Computes the parts of one of several programs next, for the elements `s` (fused_program.hpp). `ordinal`: the
  /// number of the first element for that program.
  void begin_program(selection s, std::uint64_t ordinal, std::uint64_t seed) {
    all_ = s;
    ordinal_ = ordinal;
    seed_ = seed;
  }
  /// Returns true if `s` has all elements of the program.
  bool is_whole(selection s) const { return s.at == all_.at && s.n == all_.n; }
  /// The shared values that `variables` contains for all elements, one bit each (shared_part).
  std::uint64_t shared() const { return shared_; }
  void set_shared(std::uint64_t values) { shared_ = values; }
  /// Returns the largest number of bytes that values of this chunk took at the same time.
  std::size_t peak_bytes() const { return peak_; }
  char* elements() const { return elements_; }
  /// The column whose rows are the elements, and the number of the first one; null: elements() has them.
  const column* rows() const { return rows_; }
  std::size_t first_row() const { return first_row_; }
  /// Returns the one object that `state` denotes for all elements of the chunk.
  const char* state() const { return state_; }
  void set_state(const void* state) { state_ = static_cast<const char*>(state); }
  /// The items of a list that are being converted.
  const char* items() const { return items_; }
  void set_items(const char* items) { items_ = items; }
  std::size_t stride() const { return stride_; }
  std::uint64_t ordinal() const { return ordinal_; }
  std::uint64_t seed() const { return seed_; }

  /// Returns memory that is valid until the enclosing `scratch` object ends.
  void* room(std::size_t bytes);
  template <class T> T* room_for(std::size_t n) { return static_cast<T*>(room(n * sizeof(T))); }

  /// Returns memory that is valid until the chunk, or the enclosing `kept_scope`, ends. Errors: those of charge();
  /// failed_at if the value exceeds kExpressionValueBytesMax.
  char* kept_room(std::size_t bytes) { return kept_room(bytes, 1); }
  std::string_view kept(std::string_view text) {
    char* to = kept_room(text.size());
    std::copy(text.begin(), text.end(), to);
    return {to, text.size()};
  }
  /// Charges the bytes that a value of an element, or n values, own beyond their registers. Errors: too_heavy;
  /// failed_at if the values of one element take more than kExpressionElementBytesMax.
  void charge(std::size_t bytes, std::size_t n = 1) {
    bytes_ += bytes;
    largest_ = std::max(largest_, bytes / std::max<std::size_t>(n, 1));
    peak_ = std::max(peak_, bytes_);
    if (bytes_ > kRunBytes) check_bytes();
  }
  /// Charges the memory that n objects own. `is_value`: the language built them, so the limits of texts apply.
  /// Returns the number of bytes.
  std::size_t charge_owned(const element_type& type, const void* objects, std::size_t n, bool is_value = false);

  /// Uninitialized memory for n objects. The caller reports the number of constructed objects, so that they are
  /// destroyed at the end of the chunk, or of the `kept_scope`.
  struct objects {
    const element_type* type;
    char* data;
    std::size_t constructed;
  };
  objects& kept_objects(const element_type& type, std::size_t n, std::size_t values);
  objects& kept_objects(const element_type& type, std::size_t n) { return kept_objects(type, n, n); }

  class scratch {
   public:
    explicit scratch(evaluation& ev) : ev_(ev), chunk_(ev.chunk_), used_(ev.used_) {}
    ~scratch() {
      ev_.chunk_ = chunk_;
      ev_.used_ = used_;
    }
    scratch(const scratch&) = delete;

   private:
    evaluation& ev_;
    std::size_t chunk_, used_;
  };

  /// On destruction, destroys the objects stored since construction. For parts whose values refer to none of them.
  class kept_scope {
   public:
    explicit kept_scope(evaluation& ev, bool is_wanted = true)
        : ev_(is_wanted ? &ev : nullptr),
          objects_(ev.objects_.size()),
          pieces_(ev.kept_.size()),
          used_(ev.kept_used_),
          bytes_(ev.bytes_) {}
    ~kept_scope() {
      if (ev_) ev_->forget_from(objects_, pieces_, used_, bytes_);
    }
    kept_scope(const kept_scope&) = delete;
    /// Moves `bytes` that were charged within the scope to the enclosing scope, where they stay charged.
    void outlive(std::size_t bytes) { bytes_ += bytes; }

   private:
    evaluation* ev_;
    std::size_t objects_, pieces_, used_, bytes_;
  };

  /// The values of variables by number: registers for the whole chunk, indexed by element.
  std::vector<char*> variables;

 private:
  struct piece {
    std::unique_ptr<char[]> data;
    std::size_t size;
  };
  /// The registers of most expressions fit in this memory, which the last block has used, and need no allocation.
  static constexpr std::size_t kOwnBytes = 16 << 10;

  void forget() { forget_from(0, 0, 0, 0); }
  void forget_from(std::size_t objects, std::size_t pieces, std::size_t used, std::size_t bytes);
  char* kept_room(std::size_t bytes, std::size_t n);
  void check_bytes() const;
  void refuse_value(std::size_t bytes) const;
  /// The k-th part of the memory for registers; the first part is inside this object.
  char* part(std::size_t k) { return k == 0 ? own_ : scratch_[k - 1].data.get(); }
  std::size_t part_bytes(std::size_t k) const { return k == 0 ? kOwnBytes : scratch_[k - 1].size; }

  std::size_t stride_;
  std::uint64_t seed_;
  char* elements_ = nullptr;
  const column* rows_ = nullptr;
  std::size_t first_row_ = 0;
  const char* state_ = nullptr;
  const char* items_ = nullptr;
  std::uint64_t ordinal_ = 0;
  std::uint32_t n_ = 1;
  selection all_{nullptr, 0};
  std::uint64_t shared_ = 0;
  std::size_t bytes_ = 0, peak_ = 0, largest_ = 0;  ///< charged now; the peak and the largest value of this chunk
  std::vector<piece> scratch_;
  std::size_t chunk_ = 0, used_ = 0;
  std::vector<piece> kept_;
  std::size_t kept_used_ = 0;
  std::vector<std::unique_ptr<objects>> objects_;
  alignas(16) char own_[kOwnBytes];
};

/// Loads registers from the selected objects among those at from, from + stride …
void load(const element_type& t, const char* from, std::size_t stride, selection s, void* out);
/// Loads registers from objects given by pointers.
void load_each(const element_type& t, const void* const* objects, std::uint32_t n, void* out);
/// Constructs objects from registers. Errors: exceptions of a copy; no object is constructed then.
void store(const element_type& t, const void* registers, std::uint32_t n, char* to, std::size_t stride);
void destroy_each(const element_type& t, char* at, std::size_t stride, std::size_t n);

/// A part of an expression, with its type.
class computed {
 public:
  explicit computed(const element_type& t) : type_(&t) {}
  virtual ~computed() = default;
  computed(const computed&) = delete;
  const element_type& type() const { return *type_; }

  /// Computes the registers of the selected elements. Errors: failed_at.
  virtual void eval(evaluation& ev, selection s, void* out) const = 0;
  /// Constructs the values of the selected elements, except the parts that take() moves. Errors: failed_at, or
  /// exceptions of copies; no value is constructed then.
  virtual void build(evaluation& ev, selection s, char* to, std::size_t stride) const;
  /// Undoes build().
  virtual void unbuild(char* to, std::size_t stride, std::uint32_t n) const { destroy_each(*type_, to, stride, n); }
  /// Moves the parts that are moved out of the elements 0 … n - 1. Does not fail.
  virtual void take(evaluation&, std::uint32_t, char*, std::size_t) const {}

  /// Returns the register that all elements share, or null if they may differ.
  virtual const void* constant() const { return nullptr; }
  /// Returns the registers if they are in memory already, or null if eval() must write them.
  virtual const void* in_place(const evaluation&, selection) const { return nullptr; }

 private:
  const element_type* type_;
};
using computed_ptr = std::unique_ptr<computed>;

/// Returns the registers of a part: the existing ones, or new ones.
template <class T> const T* registers_of(const computed& c, evaluation& ev, selection s) {
  if (const void* there = c.in_place(ev, s)) return static_cast<const T*>(there);
  T* out = ev.room_for<T>(s.n);
  c.eval(ev, s, out);
  return out;
}

/// Calls f(i) for i < s.n; a bad_value becomes the element's error.
template <class F> void each(selection s, F f) {
  std::uint32_t i = 0;
  try {
    for (; i != s.n; ++i) f(i);
  } catch (bad_value& bad) { throw failed_at{s.element(i), std::move(bad.why), std::move(bad.own_status)}; }
}

}  // namespace sluice::lib::expressions
