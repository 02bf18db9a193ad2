// SPDX-License-Identifier: Apache-2.0
// plan_memo: what was computed from a plan once, kept with its node.
//
//   if (const plan_memo::entry* known = n.memo.find(key)) return static_cast<const my_entry&>(*known);
//   return static_cast<const my_entry&>(n.memo.add(std::make_unique<my_entry>(key, …)));
//
// A copy of a memo is empty, because a copied node is usually changed before it becomes part of a plan.
// Owns:   its entries, as long as the node lives. An entry must not own the node that it is kept with.
// Thread: any. If two threads add the same key, one of the entries is kept.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace sluice::lib {

class plan_memo {
 public:
  /// The most entries of one memo. add() then replaces none, and returns null.
  static constexpr int kEntriesMax = 16;

  class entry {
   public:
    explicit entry(std::uint64_t key) : key_(key) {}
    virtual ~entry();
    entry(const entry&) = delete;

   private:
    friend plan_memo;
    const std::uint64_t key_;
    const entry* next_ = nullptr;
  };

  plan_memo() noexcept = default;
  plan_memo(const plan_memo&) noexcept {}
  plan_memo& operator=(const plan_memo&) noexcept { return *this; }
  ~plan_memo();

  /// Returns null if no entry has this key.
  const entry* find(std::uint64_t key) const noexcept;
  /// Adds `e`, and returns the entry with its key, which may be one that another thread has added. Returns null, and
  /// leaves `e` to the caller, if the memo is full.
  const entry* add(std::unique_ptr<entry>& e) const noexcept;

 private:
  mutable std::atomic<const entry*> first_{nullptr};
};

}  // namespace sluice::lib
