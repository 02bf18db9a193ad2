// SPDX-License-Identifier: Apache-2.0
#include "sluice/io/sqlite_meta_store.hpp"

#include <sqlite3.h>

#include <functional>

#include "absl/strings/str_cat.h"
#include "io/local/blocking_backend.hpp"
#include "io/paths/late.hpp"
#include "io/shared_call.hpp"
#include "sluice/base/mutex.hpp"
#include "sluice/coro/stop_token.hpp"

namespace sluice::lib {
namespace {

constexpr int kLockPatienceMs = 5000;  // a commit of another process takes some 10 ms for an fsync; after 5 s it hangs

constexpr const char* kSchema =
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
    "CREATE TABLE IF NOT EXISTS entry(key BLOB PRIMARY KEY, value BLOB NOT NULL, version INTEGER NOT NULL) WITHOUT "
    "ROWID;"
    "CREATE TABLE IF NOT EXISTS store(id INTEGER PRIMARY KEY CHECK(id = 0), revision INTEGER NOT NULL);"
    "INSERT OR IGNORE INTO store VALUES(0, 0);";

struct close_database {
  void operator()(sqlite3* d) const noexcept { sqlite3_close_v2(d); }
};
using database = std::unique_ptr<sqlite3, close_database>;

status status_of(sqlite3* d, std::string_view what) {
  int code = sqlite3_errcode(d);
  std::string text = absl::StrCat("metadata store: ", std::string(what), ": ", sqlite3_errmsg(d));
  return code == SQLITE_CORRUPT || code == SQLITE_NOTADB ? data_loss_error(text) : unavailable_error(text);
}

/// An SQL statement with its parameters; step() returns rows. Throws `error`.
class statement {
 public:
  statement(sqlite3* d, const char* sql) : database_(d) {
    if (sqlite3_prepare_v2(d, sql, -1, &raw_, nullptr) != SQLITE_OK) throw error(status_of(d, sql));
  }
  statement(const statement&) = delete;
  statement& operator=(const statement&) = delete;
  ~statement() { sqlite3_finalize(raw_); }

  statement& with(int at, const std::string& bytes) {
    sqlite3_bind_blob(raw_, at, bytes.data(), static_cast<int>(bytes.size()), SQLITE_TRANSIENT);
    if (bytes.empty()) sqlite3_bind_zeroblob(raw_, at, 0);  // a null pointer would bind NULL
    return *this;
  }
  statement& with(int at, std::uint64_t n) {
    sqlite3_bind_int64(raw_, at, static_cast<sqlite3_int64>(n));
    return *this;
  }
  bool step() {
    int code = sqlite3_step(raw_);
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE) throw error(status_of(database_, sqlite3_sql(raw_)));
    return false;
  }
  std::string bytes(int column) const {
    auto* data = static_cast<const char*>(sqlite3_column_blob(raw_, column));
    return data ? std::string(data, static_cast<std::size_t>(sqlite3_column_bytes(raw_, column))) : std::string();
  }
  std::uint64_t number(int column) const { return static_cast<std::uint64_t>(sqlite3_column_int64(raw_, column)); }

 private:
  sqlite3* database_;
  sqlite3_stmt* raw_ = nullptr;
};

/// Rolls back unless it was committed.
class transaction {
 public:
  explicit transaction(sqlite3* d) : database_(d) { statement(d, "BEGIN IMMEDIATE").step(); }
  transaction(const transaction&) = delete;
  transaction& operator=(const transaction&) = delete;
  ~transaction() {
    if (!committed_) sqlite3_exec(database_, "ROLLBACK", nullptr, nullptr, nullptr);
  }
  void commit() {
    statement(database_, "COMMIT").step();
    committed_ = true;
  }

 private:
  sqlite3* database_;
  bool committed_ = false;
};

/// The calls, each on any thread. The coroutines follow below.
class tables {
 public:
  explicit tables(database d) : database_(std::move(d)) {}

  std::optional<meta_entry> get(const std::string& key) {
    mutex_lock lock(mutex_);
    statement s(database_.get(), "SELECT value, version FROM entry WHERE key = ?");
    if (!s.with(1, key).step()) return std::nullopt;
    return meta_entry(key, s.bytes(0), s.number(1));
  }

  std::vector<meta_entry> list(const std::string& prefix) {
    mutex_lock lock(mutex_);
    statement s(database_.get(), "SELECT key, value, version FROM entry WHERE key >= ? ORDER BY key");
    s.with(1, prefix);
    std::vector<meta_entry> found;
    while (s.step()) {
      meta_entry e(s.bytes(0), s.bytes(1), s.number(2));
      if (!e.key.starts_with(prefix)) break;
      found.push_back(std::move(e));
    }
    return found;
  }

  std::optional<std::uint64_t> commit(const std::vector<meta_guard>& guards, const std::vector<meta_write>& writes) {
    mutex_lock lock(mutex_);
    transaction whole(database_.get());
    for (auto& g : guards)
      if (version_of(g.key) != g.version) return std::nullopt;
    std::uint64_t revision = read_revision();
    if (writes.empty()) return revision;
    ++revision;
    for (auto& w : writes) apply(w, revision);
    statement(database_.get(), "UPDATE store SET revision = ?").with(1, revision).step();
    whole.commit();
    return revision;
  }

  std::uint64_t revision() {
    mutex_lock lock(mutex_);
    return read_revision();
  }

 private:
  std::uint64_t version_of(const std::string& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    statement s(database_.get(), "SELECT version FROM entry WHERE key = ?");
    return s.with(1, key).step() ? s.number(0) : 0;
  }
  std::uint64_t read_revision() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    statement s(database_.get(), "SELECT revision FROM store");
    return s.step() ? s.number(0) : 0;
  }
  void apply(const meta_write& w, std::uint64_t revision) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!w.value) {
      statement(database_.get(), "DELETE FROM entry WHERE key = ?").with(1, w.key).step();
      return;
    }
    statement s(database_.get(), "INSERT OR REPLACE INTO entry VALUES(?, ?, ?)");
    s.with(1, w.key).with(2, *w.value).with(3, revision).step();
  }

  mutex mutex_;
  database database_ ABSL_GUARDED_BY(mutex_);
};

/// One call on the tables, which owns its arguments: it may continue when its waiter is gone.
template <class T> struct table_call {
  std::shared_ptr<tables> on;
  std::function<T(tables&)> what;
  std::optional<T> got = {};
  status why = {};
  std::int64_t operator()() noexcept {
    try {
      got.emplace(what(*on));
    } catch (...) { why = current_exception_status(); }
    return 0;
  }
};

class sqlite_meta_store final : public meta_store {
 public:
  sqlite_meta_store(database d, blocking_service& threads)
      : tables_(std::make_shared<tables>(std::move(d))), threads_(threads) {}

  task<std::optional<meta_entry>> get(std::string key, time_point deadline) override {
    auto call = [key = std::move(key)](tables& t) { return t.get(key); };
    return ask<std::optional<meta_entry>>(std::move(call), deadline);
  }
  task<std::vector<meta_entry>> list(std::string prefix, time_point deadline) override {
    auto call = [prefix = std::move(prefix)](tables& t) { return t.list(prefix); };
    return ask<std::vector<meta_entry>>(std::move(call), deadline);
  }
  task<std::optional<std::uint64_t>> commit(std::vector<meta_guard> guards, std::vector<meta_write> writes,
                                            time_point deadline) override {
    auto call = [guards = std::move(guards), writes = std::move(writes)](tables& t) {
      return t.commit(guards, writes);
    };
    return ask<std::optional<std::uint64_t>>(std::move(call), deadline);
  }
  task<std::uint64_t> revision(time_point deadline) override {
    auto call = [](tables& t) { return t.revision(); };
    return ask<std::uint64_t>(std::move(call), deadline);
  }

 private:
  template <class T> task<T> ask(std::function<T(tables&)> what, time_point deadline) {
    environment* env = co_await this_environment();
    status too_late = detail::late("metadata store");
    if (deadline <= env->time->now()) co_await fail(std::move(too_late));
    detail::shared_call<table_call<T>> call(table_call<T>{tables_, std::move(what)});
    std::int64_t answer = co_await call.on(threads_, deadline);
    status why = answer == detail::operation::kTimedOut ? std::move(too_late) : std::move(call->why);
    if (!why.ok()) co_await fail(std::move(why));
    co_return *std::move(call->got);
  }

  std::shared_ptr<tables> tables_;
  detail::blocking_backend threads_;
};

}  // namespace

result<std::unique_ptr<meta_store>> open_sqlite_meta_store(const std::string& path, blocking_service& threads) {
  sqlite3* raw = nullptr;
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;  // `tables` locks
  int code = sqlite3_open_v2(path.c_str(), &raw, flags, nullptr);
  database d(raw);
  if (!raw) return resource_exhausted_error("metadata store: out of memory");
  if (code != SQLITE_OK) return status_of(raw, "open").in_file(path);
  sqlite3_busy_timeout(raw, kLockPatienceMs);
  if (sqlite3_exec(raw, kSchema, nullptr, nullptr, nullptr) != SQLITE_OK) return status_of(raw, "set up").in_file(path);
  return std::unique_ptr<meta_store>(std::make_unique<sqlite_meta_store>(std::move(d), threads));
}

}  // namespace sluice::lib
