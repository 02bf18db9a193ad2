// SPDX-License-Identifier: Apache-2.0
// A run as an ArrowArrayStream.
#include "sluice/pipeline/arrow_stream.hpp"

#include <cerrno>
#include <string>
#include <utility>

#include "sluice/runtime/runtime.hpp"

namespace sluice::lib {
namespace {

struct exported_run {
  std::shared_ptr<runtime> rt;  // destroyed after the run
  any_stream run;
  const element_type* row;
  arrow_options options;
  bool has_ended = false;
  int number = 0;  ///< other than 0: the stream has failed
  std::string words;
};

int errno_of(status_code code) {
  switch (code) {
    case status_code::cancelled: return ECANCELED;
    case status_code::invalid_argument:
    case status_code::failed_precondition:
    case status_code::out_of_range: return EINVAL;
    case status_code::not_found: return ENOENT;
    case status_code::permission_denied: return EACCES;
    case status_code::deadline_exceeded: return ETIMEDOUT;
    case status_code::resource_exhausted: return ENOMEM;
    case status_code::unimplemented: return ENOSYS;
    default: return EIO;
  }
}

int fails(exported_run& r, const status& why) {
  if (why.ok()) return 0;
  r.number = errno_of(why.code());
  try {
    r.words = why.to_string();
  } catch (...) { r.words.clear(); }
  return r.number;
}

task<> export_next(exported_run* r, ArrowArray* out) {
  demand one;
  one.elements = 1;
  auto got = co_await r->run.try_next_block(one);
  if (!got.view) {
    r->has_ended = got.why.ok();
    if (!r->has_ended) throw_status(got.why);
    co_return;
  }
  auto* batch = reinterpret_cast<const batch_storage*>(got.view.at(0));
  status exported = export_rows(*batch, *r->row, out, r->options);
  if (!exported.ok()) throw_status(exported);
}

exported_run& run_of(ArrowArrayStream* s) { return *static_cast<exported_run*>(s->private_data); }

template <class F> int answered(ArrowArrayStream* s, F f) {
  exported_run& r = run_of(s);
  if (r.number != 0) return r.number;
  try {
    return fails(r, f(r));
  } catch (...) { return fails(r, current_exception_status()); }
}

int get_schema(ArrowArrayStream* s, ArrowSchema* out) {  // also for a run that has failed
  exported_run& r = run_of(s);
  const int number = std::exchange(r.number, 0);
  const int answer = answered(s, [&](exported_run& run) { return export_schema(*run.row, out, run.options); });
  if (answer == 0) r.number = number;
  return answer;
}

int get_next(ArrowArrayStream* s, ArrowArray* out) {
  *out = ArrowArray{};
  return answered(s, [&](exported_run& r) {
    if (r.rt->root().exec->on_worker())
      return failed_precondition_error(
          "this Arrow stream of a run is read on a worker of the run's own runtime, which cannot wait for itself: "
          "from_arrow needs {.threads = &rt.blocking_calls()}");
    return r.has_ended ? status() : sync_wait_result(r.rt->root(), export_next(&r, out));
  });
}

const char* get_last_error(ArrowArrayStream* s) {
  exported_run& r = run_of(s);
  return r.number != 0 ? r.words.c_str() : nullptr;
}

void release_run(ArrowArrayStream* s) {
  delete &run_of(s);
  s->release = nullptr;
  s->private_data = nullptr;
}

}  // namespace

status export_stream(std::shared_ptr<runtime> rt, any_stream s, ArrowArrayStream* out, const arrow_options& o) {
  if (!s) return invalid_argument_error("export_stream: the stream is empty");
  const element_type& t = s.type();
  if (t.kind != kind::batch)
    return invalid_argument_error("export_stream: the elements are " + t.name +
                                  ", not batches: end the plan with batch(n)");
  ArrowSchema tried;
  if (status fits = export_schema(*t.element, &tried, o); !fits.ok()) return fits;
  tried.release(&tried);
  auto made = std::make_unique<exported_run>();
  made->rt = std::move(rt);
  made->run = std::move(s);
  made->row = t.element;
  made->options = o;
  *out = ArrowArrayStream{};
  out->get_schema = get_schema;
  out->get_next = get_next;
  out->get_last_error = get_last_error;
  out->release = release_run;
  out->private_data = made.release();
  return {};
}

status export_stream(runtime& rt, any_stream s, ArrowArrayStream* out, const arrow_options& o) {
  return export_stream(std::shared_ptr<runtime>(std::shared_ptr<void>(), &rt), std::move(s), out, o);
}

}  // namespace sluice::lib
