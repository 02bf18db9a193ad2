// SPDX-License-Identifier: Apache-2.0
// A part of the input is computed in columns, one for each aggregate, and then added to the groups, column by column.
// Sums of integers are kept in 128 bits, so that no order of the rows overflows; the total is checked.
#include "engine/expressions/aggregate_values.hpp"

#include <cstring>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>

#include "engine/held/held_elements.hpp"
#include "expr/vectorised.hpp"

namespace sluice::lib {

aggregate_states::~aggregate_states() = default;
applied aggregate_states::compute_rows(const column_view&) {
  return {0, internal_error("these aggregates read no columns")};
}

namespace {

using expressions::number;
__extension__ using int128 = __int128;

/// A sum of doubles that are all there, one after the other.
struct sum_of_doubles {
  const char* values;
  double* to;
};

/// Adds the values in their order to each sum. An addition waits for the one before it, but not for those of other sums.
template <std::size_t N> void add_together(const sum_of_doubles* sums, std::uint32_t n) {
  double made[N];
  for (std::size_t k = 0; k != N; ++k) made[k] = *sums[k].to;
  for (std::uint32_t i = 0; i != n; ++i)
    for (std::size_t k = 0; k != N; ++k) {
      double v;
      std::memcpy(&v, sums[k].values + i * sizeof v, sizeof v);
      made[k] += v;
    }
  for (std::size_t k = 0; k != N; ++k) *sums[k].to = made[k];
}
void add_together(std::vector<sum_of_doubles>& sums, std::uint32_t n) {
  std::size_t k = 0;
  for (; k + 6 <= sums.size(); k += 6) add_together<6>(&sums[k], n);
  for (; k + 3 <= sums.size(); k += 3) add_together<3>(&sums[k], n);
  for (; k != sums.size(); ++k) add_together<1>(&sums[k], n);
  sums.clear();
}

/// One aggregate of all groups.
class aggregate {
 public:
  aggregate(const element_type& type, const row_value* value) : type_(type) {
    if (value) column_ = std::make_unique<column_of_values>(*value);
  }
  aggregate(const aggregate&) = delete;
  virtual ~aggregate() = default;

  const element_type& type() const { return type_; }
  template <class Rows> applied compute(const Rows& in) {
    if (column_) return column_->compute(in);
    return {in.size(), {}};
  }
  /// Makes states for `count` groups, and adds the rows' values to them.
  virtual void add(groups_of_rows groups, std::uint32_t n, std::uint32_t count) = 0;
  /// Instead of add() for rows of one group: appends to `sums` what the caller has to add together with other sums. Returns
  /// false if it is nothing of that kind.
  virtual bool add_later(std::uint32_t /*group*/, std::uint32_t /*n*/, std::uint32_t /*count*/,
                         std::vector<sum_of_doubles>& /*sums*/) {
    return false;
  }
  /// Constructs the value at `to`.
  virtual status build(std::uint32_t group, char* to) = 0;
  virtual std::size_t bytes() const = 0;

 protected:
  const column_of_values& column() const { return *column_; }
  void forget_column() { column_->forget(); }
  /// Constructs the value, or, for an optional, an optional with or without it.
  template <class T> void construct(char* to, T value, bool exists) const {
    if (type_.kind == kind::maybe) type_.collect(type_, to, &value, exists, exists, sizeof value);
    else std::memcpy(to, &value, sizeof value);
  }

 private:
  const element_type& type_;
  std::unique_ptr<column_of_values> column_;
};

/// count() has no value, and count(x) counts those that exist.
class row_count final : public aggregate {
 public:
  explicit row_count(const row_value* value) : aggregate(type_of<std::int64_t>(), value), has_value_(value) {}
  void add(groups_of_rows groups, std::uint32_t n, std::uint32_t count) override {
    counts_.resize(count);
    if (!groups.groups && (!has_value_ || column().all_exist())) counts_[groups.only] += n;
    else
      for (std::uint32_t i = 0; i != n; ++i) counts_[groups[i]] += !has_value_ || column().exists(i);
    if (has_value_) forget_column();
  }
  status build(std::uint32_t group, char* to) override {
    construct(to, counts_[group], true);
    return {};
  }
  std::size_t bytes() const override { return counts_.capacity() * sizeof counts_[0]; }

 private:
  bool has_value_;
  std::vector<std::int64_t> counts_;
};

template <class T> using total_of = std::conditional_t<std::is_floating_point_v<T>, double, int128>;

template <class T, bool IsMean> class added_values final : public aggregate {
 public:
  using result = std::conditional_t<
      IsMean || std::is_floating_point_v<T>, double,
      std::conditional_t<std::is_unsigned_v<T> && !std::is_same_v<T, bool>, std::uint64_t, std::int64_t>>;
  added_values(const element_type& type, const row_value& value) : aggregate(type, &value) {}
  void add(groups_of_rows groups, std::uint32_t n, std::uint32_t count) override {
    states_.resize(count);
    if (!groups.groups && column().all_exist()) {
      state& s = states_[groups.only];
      add_all(s.sum, n);
      s.n += n;
      return;
    }
    for (std::uint32_t i = 0; i != n; ++i) {
      if (!column().exists(i)) continue;
      state& s = states_[groups[i]];
      s.sum += column().template number_at<T>(i);
      ++s.n;
    }
  }
  bool add_later(std::uint32_t group, std::uint32_t n, std::uint32_t count,
                 std::vector<sum_of_doubles>& sums) override {
    if constexpr (std::is_same_v<T, double>) {
      if (!column().all_exist()) return false;
      states_.resize(count);
      states_[group].n += n;
      sums.push_back({column().numbers(), &states_[group].sum});
      return true;
    } else {
      return false;
    }
  }
  status build(std::uint32_t group, char* to) override {
    const state& s = states_[group];
    if constexpr (IsMean) {
      construct(to, static_cast<double>(s.sum) / static_cast<double>(s.n), s.n != 0);
    } else {
      if constexpr (std::is_integral_v<result>)
        if (s.sum > std::numeric_limits<result>::max() || s.sum < std::numeric_limits<result>::min())
          return invalid_argument_error("sum: the total is no " + type_of<result>().name);
      construct(to, static_cast<result>(s.sum), s.n != 0);
    }
    return {};
  }
  std::size_t bytes() const override { return states_.capacity() * sizeof(state); }

 private:
  /// Adds the values of all n rows, in their order.
  void add_all(total_of<T>& to, std::uint32_t n) const {
    const column_of_values& values = column();
    if constexpr (std::is_floating_point_v<T>) {
      for (std::uint32_t i = 0; i != n; ++i) to += values.number_at<T>(i);
    } else {
      static_assert(sizeof n == sizeof(std::uint32_t), "sums of so many halves fit in 64 bits");
      // Both halves apart, so that neither overflows and the loop is vectorised. Signed values are added as if they were
      // larger by 2^63.
      constexpr bool kIsWide = sizeof(T) == sizeof(std::uint64_t);
      constexpr std::uint64_t kLarger = kIsWide && std::is_signed_v<T> ? std::uint64_t{1} << 63 : 0;
      std::int64_t low = 0, high = 0;
      vectorised([&low, &high, &values, n]() SLUICE_VECTORISED {
        std::int64_t low_sum = 0, high_sum = 0;
        for (std::uint32_t i = 0; i != n; ++i) {
          const T v = values.number_at<T>(i);
          if constexpr (kIsWide) {
            const std::uint64_t bits = static_cast<std::uint64_t>(v) ^ kLarger;
            low_sum += static_cast<std::int64_t>(bits & 0xffffffff);
            high_sum += static_cast<std::int64_t>(bits >> 32);
          } else {
            low_sum += static_cast<std::int64_t>(v);
          }
        }
        low = low_sum;
        high = high_sum;
      });
      to += int128{high} * (int128{1} << 32) + low - int128{kLarger} * n;
    }
  }
  struct state {
    total_of<T> sum = 0;
    std::uint64_t n = 0;
  };
  std::vector<state> states_;
};

enum class selects : std::uint8_t { least, most, first };

/// Returns true if a later value replaces the present one. A NaN stays, and replaces all others.
template <class T> bool replaces(selects which, const T& value, const T& present) {
  if (which == selects::first) return false;
  if constexpr (std::is_floating_point_v<T>) {
    if (present != present) return false;
    if (value != value) return true;
  }
  return which == selects::least ? value < present : value > present;
}

template <class T> class chosen_number final : public aggregate {
 public:
  chosen_number(const element_type& type, const row_value& value, selects which)
      : aggregate(type, &value), which_(which) {}
  void add(groups_of_rows groups, std::uint32_t n, std::uint32_t count) override {
    states_.resize(count);
    for (std::uint32_t i = 0; i != n; ++i) {
      if (!column().exists(i)) continue;
      state& s = states_[groups[i]];
      const T v = column().template number_at<T>(i);
      if (!s.exists || replaces(which_, v, s.value)) s.value = v;
      s.exists = true;
    }
  }
  status build(std::uint32_t group, char* to) override {
    construct(to, states_[group].value, states_[group].exists);
    return {};
  }
  std::size_t bytes() const override { return states_.capacity() * sizeof(state); }

 private:
  struct state {
    T value{};
    bool exists = false;
  };
  std::vector<state> states_;
  selects which_;
};

/// Values that are no numbers: texts, and, for first(), all that can be copied.
class chosen_object final : public aggregate {
 public:
  chosen_object(const element_type& type, const row_value& value, selects which)
      : aggregate(type, &value), value_(*value.type), which_(which) {}
  ~chosen_object() override {
    for (char* state : states_)
      if (state) release(state);
  }
  void add(groups_of_rows groups, std::uint32_t n, std::uint32_t count) override {
    states_.resize(count);
    for (std::uint32_t i = 0; i != n; ++i) {
      char*& state = states_[groups[i]];
      if (!column().exists(i)) continue;
      const char* v = column().object_at(i);
      if (state && (which_ == selects::first || !replaces(which_, value_.text(v), value_.text(state)))) continue;
      char* made = copied(v);
      if (state) release(state);
      state = made;
    }
    forget_column();
  }
  status build(std::uint32_t group, char* to) override {
    char* state = states_[group];
    const bool exists = state != nullptr;
    if (type().kind == kind::maybe) type().collect(type(), to, state, exists, 0, value_.size);
    else value_.copy(value_, to, state, 1, value_.size, value_.size);
    return {};
  }
  std::size_t bytes() const override { return states_.capacity() * sizeof(char*) + bytes_; }

 private:
  char* copied(const char* v) {
    auto* to = static_cast<char*>(::operator new(value_.size, std::align_val_t(value_.align)));
    try {
      value_.copy(value_, to, v, 1, value_.size, value_.size);
    } catch (...) {
      ::operator delete(to, std::align_val_t(value_.align));
      throw;
    }
    bytes_ += size_of(to);
    return to;
  }
  void release(char* state) {
    bytes_ -= size_of(state);
    value_.destroy(value_, state, 1);
    ::operator delete(state, std::align_val_t(value_.align));
  }
  std::size_t size_of(const char* state) const { return value_.size + owned_bytes_of(value_, state, 1); }

  const element_type& value_;
  std::vector<char*> states_;
  std::size_t bytes_ = 0;
  selects which_;
};

std::unique_ptr<aggregate> make_aggregate(const described_aggregate& d) {
  if (d.function == "count") return std::make_unique<row_count>(d.value.c ? &d.value : nullptr);
  const selects which = d.function == "min" ? selects::least : d.function == "max" ? selects::most : selects::first;
  if (d.value.kind() == number::none) return std::make_unique<chosen_object>(*d.type, d.value, which);
  return expressions::with_number(d.value.kind(), [&]<class T>(std::type_identity<T>) -> std::unique_ptr<aggregate> {
    if (d.function == "sum") return std::make_unique<added_values<T, false>>(*d.type, d.value);
    if (d.function == "mean") return std::make_unique<added_values<T, true>>(*d.type, d.value);
    return std::make_unique<chosen_number<T>>(*d.type, d.value, which);
  });
}

class states_of_aggregates final : public aggregate_states {
 public:
  explicit states_of_aggregates(const std::vector<described_aggregate>& described) {
    for (const described_aggregate& d : described) all_.push_back(make_aggregate(d));
  }
  applied compute(const block& in) override {
    return compute_all(in.size(), [&in](aggregate& one, std::uint32_t n) { return one.compute(in.first(n)); });
  }
  applied compute_rows(const column_view& in) override {
    return compute_all(in.size(), [&in](aggregate& one, std::uint32_t n) { return one.compute(in.front(n)); });
  }
  void add(const std::uint32_t* groups, std::uint32_t n, std::uint32_t count) override {
    for (auto& one : all_) one->add({groups, 0}, n, count);
  }
  void add_to(std::uint32_t group, std::uint32_t n, std::uint32_t count) override {
    for (auto& one : all_)
      if (!one->add_later(group, n, count, sums_)) one->add({nullptr, group}, n, count);
    add_together(sums_, n);
  }
  status build(std::uint32_t group, char* to, const std::size_t* offsets) override {
    for (std::size_t k = 0; k != all_.size(); ++k) {
      status why = all_[k]->build(group, to + offsets[k]);
      if (why.ok()) continue;
      while (k-- != 0) all_[k]->type().destroy(all_[k]->type(), to + offsets[k], 1);
      return why;
    }
    return {};
  }
  std::size_t bytes() const override {
    std::size_t all = 0;
    for (auto& one : all_) all += one->bytes();
    return all;
  }

 private:
  /// Calls `compute_one` for each aggregate with the number of rows before the first one that fails so far.
  template <class Compute> applied compute_all(std::uint32_t n, Compute compute_one) {
    applied worst{n, {}};
    for (auto& one : all_) {
      applied a = compute_one(*one, worst.done);
      if (!a.why.ok()) worst = std::move(a);
    }
    return worst;
  }

  std::vector<std::unique_ptr<aggregate>> all_;
  std::vector<sum_of_doubles> sums_;  ///< within add_to()
};

}  // namespace

const element_type& type_of_sum(number n) {
  return expressions::with_number(n, []<class T>(std::type_identity<T>) -> const element_type& {
    return type_of<typename added_values<T, false>::result>();
  });
}

std::unique_ptr<aggregate_states> states_of(const std::vector<described_aggregate>& described) {
  return std::make_unique<states_of_aggregates>(described);
}

}  // namespace sluice::lib
