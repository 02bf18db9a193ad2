// SPDX-License-Identifier: Apache-2.0
// Arrow's errors as ours. Parquet's part of Arrow throws; the rest returns a status.
#pragma once

#include <arrow/result.h>
#include <arrow/status.h>
#include <parquet/exception.h>

#include <new>
#include <string>
#include <utility>

#include "sluice/base/status.hpp"

namespace sluice::lib::arrow_parquet {

/// Returns the error with `what`, which continues with the library's own words.
inline status status_of(const ::arrow::Status& s, std::string_view what) {
  std::string text(what);
  text.append(": ").append(s.message());
  if (s.IsOutOfMemory()) return resource_exhausted_error(text);
  if (s.IsNotImplemented()) return unimplemented_error(text);
  return data_loss_error(text);
}

/// Calls f(), whose failures are those of damaged bytes.
template <class F> auto guarded(std::string_view what, F f) -> decltype(f()) {
  try {
    return f();
  } catch (const error&) { throw; } catch (const ::parquet::ParquetStatusException& e) {
    throw_status(status_of(e.status(), what));
  } catch (const std::bad_alloc&) { throw; } catch (const std::exception& e) {
    std::string text(e.what());
    const bool is_missing = text.find("not yet implemented") != text.npos || text.find("NYI") != text.npos;
    text.insert(0, std::string(what) + ": ");
    throw_status(is_missing ? unimplemented_error(text) : data_loss_error(text));
  }
}

inline void check(const ::arrow::Status& s, std::string_view what) {
  if (!s.ok()) throw_status(status_of(s, what));
}
template <class T> T checked(::arrow::Result<T> r, std::string_view what) {
  check(r.status(), what);
  return std::move(r).ValueUnsafe();
}

}  // namespace sluice::lib::arrow_parquet
