// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/sql.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include <absl/strings/str_cat.h>

#include "engine/files/chosen_columns.hpp"
#include "engine/files/column_schema.hpp"
#include "engine/lowering/open_context.hpp"
#include "input/content_digest.hpp"
#include "op/sql/row_values.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "runtime/held_memory.hpp"
#include "runtime/seen_inputs.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"
#include "sluice/runtime/blocking.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib {

namespace {

/// The number of rows in one call, which makes the cost of changing threads small.
constexpr std::uint32_t kSqlRowsAtOnce = 256;
constexpr std::uint64_t kSqlPassedAtOnce = 1 << 14;

/// The result of a call.
struct sql_progress {
  std::uint64_t rows = 0;
  bool has_ended = false;
  status bad_row{};  ///< the error of the row after those, which is consumed
};

/// The query. Its calls block, and only one may run at a time.
class sql_reader {
 public:
  sql_reader(std::string path, std::string query, csv_schema schema)
      : path_(std::move(path)), query_(std::move(query)), schema_(std::move(schema)) {}

  const std::string& path() const { return path_; }
  const input_identity& identity() const { return identity_; }

  void open(const seen_inputs& inputs) {
    identify();
    // The log beside the file is not digested, so a database with one has no digests.
    if (!has_log_)
      for (std::uint64_t size : inputs.digest_sizes(path_, identity_.size_bytes))
        identity_.digests.emplace_back(size, digest_local_content(path_.c_str(), size));
    rows_ = open_sql(path_, query_);
    status fits = check_sql_columns(schema_, *rows_);
    if (!fits.ok()) throw_status(fits.in_file(path_));
  }
  void pass(std::uint64_t n, sql_progress& done) {
    while (done.rows != n && !done.has_ended) {
      done.has_ended = !rows_->next();
      done.rows += !done.has_ended;
    }
  }
  /// Builds rows: at most n, and no more than are needed to reach `bytes`.
  void make(void* to, std::uint64_t n, std::size_t bytes, sql_progress& done) {
    const element_type& row = *schema_.row;
    for (std::size_t made_bytes = 0; done.rows != n && made_bytes < bytes; ++done.rows) {
      done.has_ended = !rows_->next();
      if (done.has_ended) return;
      char* place = static_cast<char*>(to) + done.rows * row.size;
      try {
        make_sql_row(schema_, *rows_, place);
        made_bytes += row.size + (row.footprint ? row.footprint(row, place, 1) : 0);
      } catch (const error& e) {
        done.bad_row = e.why();
        return;
      }
    }
  }

 private:
  /// Identifies the database by its file, and by the log beside it, which has committed data until a checkpoint moves
  /// it.
  void identify() {
    struct stat s{};
    if (stat(path_.c_str(), &s) != 0) throw_status(errno_error(errno, "cannot open").in_file(path_));
    identity_.size_bytes = static_cast<std::uint64_t>(s.st_size);
    identity_.modified_ns = nanoseconds_of(s.st_mtim);
    identity_.inode = s.st_ino;
    identity_.device = s.st_dev;
    struct stat log{};
    if (stat((path_ + "-wal").c_str(), &log) != 0 || log.st_size == 0) return;
    has_log_ = true;
    identity_.size_bytes += static_cast<std::uint64_t>(log.st_size);
    identity_.modified_ns = std::max(identity_.modified_ns, nanoseconds_of(log.st_mtim));
  }
  static std::int64_t nanoseconds_of(const timespec& t) { return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec; }

  std::string path_, query_;
  csv_schema schema_;
  input_identity identity_{};
  bool has_log_ = false;
  std::unique_ptr<sql_rows> rows_{};
};

/// A call of the reader, for a thread that may wait.
struct sql_call {
  enum what_type : std::uint8_t { open, pass, make } what;
  sql_reader* reader;
  sql_progress* done;
  std::uint64_t rows;
  void* to;
  std::size_t bytes = 0;                ///< the size of the built rows
  const seen_inputs* inputs = nullptr;  ///< of the run; for `open`

  status operator()() const {
    try {
      if (what == open) reader->open(*inputs);
      else if (what == pass) reader->pass(rows, *done);
      else reader->make(to, rows, bytes, *done);
      return {};
    } catch (...) { return current_exception_status(); }
  }
};

/// Records the file as open while this object lives.
class noted_database {
 public:
  explicit noted_database(std::shared_ptr<run_context> run) : run_(std::move(run)) {}
  noted_database(const noted_database&) = delete;
  ~noted_database() {
    if (!path_.empty()) run_->inputs->file_closed(path_);
  }
  status note(const std::string& path, std::uint64_t epoch, const input_identity& now) {
    path_ = path;
    return run_->settle_changed_input(run_->inputs->file_opened(path, epoch, now).in_file(path));
  }

 private:
  std::shared_ptr<run_context> run_;
  std::string path_{};
};

erased_stream sql_loop(outlet out, saved<std::uint64_t> at, std::shared_ptr<run_context> run,
                       std::shared_ptr<sql_reader> in, std::uint64_t epoch, error_gate gate) {
  held_memory memory(run, gate.line(purpose::open_file), gate.label(), "a connection to a database",
                     "open fewer at once");
  noted_database noted(run);
  blocking_service& threads = run->rt->blocking_calls();
  status why = memory.resize(kSqlMemoryBytes);
  if (!why.ok()) co_await fail(std::move(why));
  sql_progress done;
  sql_call opens{sql_call::open, in.get(), &done, 0, nullptr};
  opens.inputs = run->inputs.get();
  blocking<sql_call> opening(threads, opens);
  why = co_await opening;
  if (!why.ok()) {  // a file that cannot be opened or queried is dropped as a whole
    auto settled = gate.settle(out, why);
    co_await settled;
    co_return;
  }
  why = noted.note(in->path(), epoch, in->identity());
  if (!why.ok()) co_await fail(gate.located(why));
  std::uint64_t row = 0;  // the row of the query: rows delivered before the resume come first
  for (;;) {
    const bool again = row < *at;
    // With error_policy::skip bad rows do not count, so rows are built even if they are skipped.
    const bool passing = again || (out.to_pass() != 0 && !gate.skips());
    done = {};
    sql_call next{passing ? sql_call::pass : sql_call::make, in.get(), &done, 0, nullptr};
    if (again) next.rows = std::min(kSqlPassedAtOnce, *at - row);
    else if (passing) next.rows = std::min<std::uint64_t>(kSqlPassedAtOnce, out.to_pass());
    else next.rows = std::min(out.ask(), kSqlRowsAtOnce);
    if (!passing) {
      next.to = out.room(next.rows);
      next.bytes = std::max<std::size_t>(out.wanted_bytes(), 1);
    }
    blocking<sql_call> asking(threads, next);
    why = co_await asking;
    row += done.rows;
    if (!again) *at += done.rows;
    if (passing && !again) out.pass(done.rows);
    if (!passing && done.rows != 0) co_yield out.made(done.rows);
    if (!why.ok()) co_await fail(gate.located(why));  // an error of the database, not of a row
    if (!done.bad_row.ok()) {
      const std::string words = absl::StrCat("row ", row, ": ", std::string(done.bad_row.message()));
      auto settled = gate.settle(out, status(done.bad_row.code(), words).in_file(in->path()), row);
      co_await settled;
      ++row;
      ++*at;
    }
    if (done.has_ended && again) {
      why = failed_precondition_error("the query has fewer rows than before the checkpoint");
      co_await fail(gate.located(why.in_file(in->path())));
    }
    if (done.has_ended) break;
  }
}

/// Returns the structure of all columns. Null, with the reason in `why`, if they are unknown.
const element_type* whole_sql_type(const sql_arguments& a, std::string& why) {
  if (!a.schema.is_said() && a.built.columns.all) return a.built.columns.all;
  auto schema = [&]() -> result<csv_schema> {
    if (a.schema.is_said()) return a.schema.columns();
    if (!a.path.is_given)
      return invalid_argument_error(
          "the database is known only when the plan runs: name the columns, as in schema=\"label: int64\"");
    try {
      return infer_sql_schema(a.path.value, a.query.value);
    } catch (const error& e) { return e.why(); }
  }();
  if (schema.ok()) return schema->row;
  // SQLite reports a mistake in the query as invalid_argument.
  const status& fault = schema.why();
  if (!fault.where().file.empty() && fault.code() != status_code::invalid_argument) throw_status(fault);
  why = a.schema.is_said() || fault.where().file.empty() ? std::string(fault.message()) : fault.to_string();
  return nullptr;
}

const element_type* sql_type(const node& n, std::string& why) {
  const auto& a = n.as<sql_arguments>();
  const element_type* whole = whole_sql_type(a, why);
  return whole ? chosen_members(*whole, a.built, why) : nullptr;
}

/// Returns the columns of the query, of which some are not built.
csv_schema schema_of_rows(const node& n) {
  const auto& a = n.as<sql_arguments>();
  std::string why;
  const element_type* whole = a.built.columns.list.empty() ? n.type : whole_sql_type(a, why);
  if (!whole) throw_status(invalid_argument_error(why));
  csv_schema schema = a.schema.is_said() ? *a.schema.columns() : *csv_schema_of(*whole);
  choose_columns(schema, a.built);
  return schema;
}

erased_stream open_sql_stage(const node& n, open_context& context) {
  const auto& a = n.as<sql_arguments>();
  csv_schema schema = schema_of_rows(n);
  outlet out(*n.type);
  saved<std::uint64_t> at;
  return sql_loop(out, std::move(at), context.run,
                  std::make_shared<sql_reader>(a.path.value, a.query.value, std::move(schema)), context.passes,
                  context.gate(n));
}

}  // namespace

const op_info sql_op{
    .name = "sql",
    .doc = "the rows of a query over an SQLite file, as structures",
    .shape = op_info::source,
    .arguments = arguments_of<sql_arguments>,
    .for_columns = arguments_for_columns<sql_arguments>,
    .type = sql_type,
    .splits = {.rule = split_rule::one_split},
    .lowering = {.open = open_sql_stage},
};

}  // namespace sluice::lib
