// SPDX-License-Identifier: Apache-2.0
// Tells ThreadSanitizer about absl::Mutex. Linked into the tests of the thread lane only.
//
// Debian's libabsl_synchronization.so is built without the sanitizer, so its locks are invisible and everything that
// one guards looks like a race. These definitions stand before the library's own in symbol order: each calls the real
// one and says what it ordered. Only happens-before is told, not lock ownership; deadlocks are Abseil's to find.
#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include <absl/synchronization/mutex.h>
#include <sanitizer/tsan_interface.h>

#define SLUICE_STRING_(x) #x
#define SLUICE_STRING(x) SLUICE_STRING_(x)

namespace {

// The mutex that this thread is inside a call of: conditions are evaluated in there, under it.
thread_local void* inside = nullptr;

struct within {
  void* outer = inside;
  explicit within(void* mutex) { inside = mutex; }
  ~within() { inside = outer; }
};

template <class Signature> Signature* real(const char* rest) {
  static const std::string space = SLUICE_STRING(ABSL_OPTION_INLINE_NAMESPACE_NAME);
  const std::string name = "_ZN" + std::string(rest[0] == 'K' ? "K" : "") + "4absl" + std::to_string(space.size()) +
                           space + (rest[0] == 'K' ? rest + 1 : rest);
  void* found = dlsym(RTLD_NEXT, name.c_str());
  if (!found) std::abort();
  return reinterpret_cast<Signature*>(found);
}

}  // namespace

namespace absl {
ABSL_NAMESPACE_BEGIN

using synchronization_internal::KernelTimeout;

void Mutex::Lock() {
  static auto* next = real<void(Mutex*)>("5Mutex4LockEv");
  within call(this);
  next(this);
  __tsan_acquire(this);
}

void Mutex::Unlock() {
  static auto* next = real<void(Mutex*)>("5Mutex6UnlockEv");
  __tsan_release(this);
  within call(this);
  next(this);
}

bool Mutex::TryLock() {
  static auto* next = real<bool(Mutex*)>("5Mutex7TryLockEv");
  bool locked = next(this);
  if (locked) __tsan_acquire(this);
  return locked;
}

void Mutex::ReaderLock() {
  static auto* next = real<void(Mutex*)>("5Mutex10ReaderLockEv");
  within call(this);
  next(this);
  __tsan_acquire(this);
}

void Mutex::ReaderUnlock() {
  static auto* next = real<void(Mutex*)>("5Mutex12ReaderUnlockEv");
  __tsan_release(this);
  within call(this);
  next(this);
}

// LockWhen and its kin end here.
bool Mutex::LockSlowWithDeadline(MuHow how, const Condition* condition, KernelTimeout timeout, int flags) {
  static auto* next = real<bool(Mutex*, MuHow, const Condition*, KernelTimeout, int)>(
      "5Mutex20LockSlowWithDeadlineEPKNS0_6MuHowSEPKNS0_9ConditionENS0_24synchronization_internal13KernelTimeoutEi");
  within call(this);
  bool held = next(this, how, condition, timeout, flags);
  __tsan_acquire(this);
  return held;
}

// Await and its kin end here when they have to wait.
bool Mutex::AwaitCommon(const Condition& condition, KernelTimeout timeout) {
  static auto* next = real<bool(Mutex*, const Condition&, KernelTimeout)>(
      "5Mutex11AwaitCommonERKNS0_9ConditionENS0_24synchronization_internal13KernelTimeoutE");
  __tsan_release(this);
  within call(this);
  bool met = next(this, condition, timeout);
  __tsan_acquire(this);
  return met;
}

bool CondVar::WaitCommon(Mutex* mutex, KernelTimeout timeout) {
  static auto* next = real<bool(CondVar*, Mutex*, KernelTimeout)>(
      "7CondVar10WaitCommonEPNS0_5MutexENS0_24synchronization_internal13KernelTimeoutE");
  __tsan_release(mutex);
  within call(mutex);
  bool timed_out = next(this, mutex, timeout);
  __tsan_acquire(mutex);
  return timed_out;
}

// Called by whoever holds the mutex: the waiter, or the thread that is about to unlock on its behalf.
bool Condition::Eval() const {
  static auto* next = real<bool(const Condition*)>("K9Condition4EvalEv");
  if (inside) __tsan_acquire(inside);
  bool met = next(this);
  if (inside) __tsan_release(inside);
  return met;
}

ABSL_NAMESPACE_END
}  // namespace absl
