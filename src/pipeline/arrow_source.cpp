// SPDX-License-Identifier: Apache-2.0
// An ArrowArrayStream as a source.
#include <optional>
#include <string>
#include <utility>

#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"
#include "sluice/engine/detail/stream_functions.hpp"
#include "sluice/op/generate.hpp"
#include "sluice/pipeline/arrow_stream.hpp"
#include "sluice/runtime/blocking.hpp"

namespace sluice::lib {
namespace {

struct unread_stream {
  ArrowArrayStream stream{};
  explicit unread_stream(ArrowArrayStream* from) : stream(*from) { from->release = nullptr; }
  unread_stream(const unread_stream&) = delete;
  unread_stream& operator=(const unread_stream&) = delete;
  ~unread_stream() {
    if (stream.release) stream.release(&stream);
  }
};

/// A stream that is being read. Its functions block while the stream does.
class arrow_reader {
 public:
  arrow_reader(const element_type& row, const arrow_open& how) : row_(row), how_(how) {}
  arrow_reader(const arrow_reader&) = delete;
  arrow_reader& operator=(const arrow_reader&) = delete;
  ~arrow_reader() {
    if (schema_.release) schema_.release(&schema_);
    if (stream_.release) stream_.release(&stream_);
  }

  /// Opens the stream, and checks its schema against the type of the rows.
  status open() {
    how_(&stream_);
    if (!stream_.release || !stream_.get_schema || !stream_.get_next)
      return invalid_argument_error("the ArrowArrayStream is not open");
    if (int number = stream_.get_schema(&stream_, &schema_); number != 0) {
      schema_.release = nullptr;
      return foreign(number, "get_schema");
    }
    if (!schema_.release) return data_loss_error("the Arrow stream's schema is empty");
    return check_arrow_rows(row_, schema_);
  }

  /// Reads the next batch and appends it to `to` unless `to` is null. Sets `more` to false at the end.
  status next(batch_storage* to, bool& more) {
    ArrowArray array{};
    more = false;
    if (int number = stream_.get_next(&stream_, &array); number != 0) return foreign(number, "get_next");
    if (!array.release) return {};
    more = true;
    std::uint64_t number = batches_++;
    status appended = to ? append_arrow_rows(*to, row_, schema_, array) : status();
    array.release(&array);
    if (appended.ok()) return appended;
    return {appended.code(),
            "batch " + std::to_string(number) + " of the Arrow stream, " + std::string(appended.message())};
  }

 private:
  status foreign(int number, std::string_view call) {
    const char* words = stream_.get_last_error ? stream_.get_last_error(&stream_) : nullptr;
    std::string text = "the Arrow stream's " + std::string(call);
    status why = errno_error(number, text);
    return words ? status(why.code(), text.append(": ").append(words)) : why;
  }

  const element_type& row_;
  const arrow_open& how_;
  ArrowArrayStream stream_{};
  ArrowSchema schema_{};
  std::uint64_t batches_ = 0;
};

/// A call of the reader. It may run on a thread for blocking calls.
struct reader_call {
  arrow_reader* reader;
  bool opens;
  batch_storage* to;
  bool* more;

  status operator()() const {
    try {
      return opens ? reader->open() : reader->next(to, *more);
    } catch (...) { return current_exception_status(); }
  }
};

erased_stream from_arrow_loop(outlet out, saved<std::uint64_t> given, arrow_open how, blocking_service* threads) {
  arrow_reader in(*out.type().element, how);
  std::uint64_t read = 0;
  for (bool is_open = false;;) {
    const bool again = is_open && read < *given;  // was delivered before the resume
    const bool passed = is_open && !again && out.pass(1) == 1;
    batch_storage batch;
    bool more = true;
    reader_call what{&in, !is_open, again || passed ? nullptr : &batch, &more};
    status why;
    if (threads) {
      blocking<reader_call> call(*threads, what);
      why = co_await call;
    } else {
      why = what();
    }
    if (!why.ok()) co_await fail(why.in_stage("from_arrow"));
    if (!is_open) {
      is_open = true;
      continue;
    }
    if (!more) {
      out.unpass(passed ? 1 : 0);
      if (!again) break;
      why = failed_precondition_error("the Arrow stream has " + std::to_string(read) + " batches; " +
                                      std::to_string(*given) + " were delivered before the checkpoint");
      co_await fail(why.in_stage("from_arrow"));
    }
    ++read;
    if (!again) ++*given;
    if (again || passed) {
      auto breath = out.breath();
      co_await breath;
      continue;
    }
    ::new (static_cast<void*>(out.room(1))) batch_storage(std::move(batch));
    block made = out.made(1);
    co_yield made;
  }
}

struct arrow_function final : stream_function {
  arrow_open how;
  blocking_service* threads;

  arrow_function(const element_type& batch, arrow_open open, blocking_service* calls)
      : how(std::move(open)), threads(calls) {
    out = &batch;
    values_known = false;
    set_label("from_arrow");
  }
  erased_stream open(erased_stream) const override {
    outlet to(*out);
    saved<std::uint64_t> given;
    return from_arrow_loop(to, std::move(given), how, threads);
  }
};

}  // namespace

arrow_open open_once(ArrowArrayStream* s) {
  auto kept = std::make_shared<unread_stream>(s);
  return [kept](ArrowArrayStream* to) {
    if (!kept->stream.release)
      throw_status(failed_precondition_error(
          "an ArrowArrayStream can be read once; a second run, an epoch or a resume needs a function that "
          "opens it again"));
    *to = kept->stream;
    kept->stream.release = nullptr;
  };
}

node_ptr from_arrow_source(const element_type& batch, arrow_open open, const from_arrow_options& o) {
  return make_source(
      generate_op,
      arguments::of(generate_arguments{detail::adopt(new arrow_function(batch, std::move(open), o.threads))}));
}

}  // namespace sluice::lib
