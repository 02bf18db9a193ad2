// SPDX-License-Identifier: Apache-2.0
// Bounds of values in the order in which filters compare them.
#pragma once

#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <parquet/schema.h>
#include <parquet/types.h>

#include <cstdint>

#include "sluice/io/parquet_files.hpp"

namespace sluice::lib::arrow_parquet {

/// Integers, dates and times are compared as their numbers. Unsigned ones that do not fit an int64 have no bounds.
inline void set_whole(column_bounds& b, std::int64_t min, std::int64_t max, bool is_unsigned, int bits) {
  if (is_unsigned && bits == 32) {
    min = static_cast<std::uint32_t>(min);
    max = static_cast<std::uint32_t>(max);
  }
  if (is_unsigned && bits == 64 && (min < 0 || max < 0)) return;
  if (min > max) return;
  b.kind = column_bounds::whole;
  b.whole_min = min;
  b.whole_max = max;
}

inline void set_real(column_bounds& b, double min, double max) {
  if (!(min <= max)) return;  // also for NaN, which old writers put there
  b.kind = column_bounds::real;
  // Writers disagree on the sign of zero.
  b.real_min = min == 0 ? -0.0 : min;
  b.real_max = max == 0 ? 0.0 : max;
}

inline void set_text(column_bounds& b, const ::parquet::ByteArray& min, const ::parquet::ByteArray& max) {
  b.kind = column_bounds::text;
  b.text_min.assign(reinterpret_cast<const char*>(min.ptr), min.len);
  b.text_max.assign(reinterpret_cast<const char*>(max.ptr), max.len);
  if (b.text_min > b.text_max) b.kind = column_bounds::unknown;
}

/// Returns true for a timestamp that is stored in the unit in which it is delivered.
inline bool is_of_unit(const ::parquet::ColumnDescriptor& d, const ::arrow::DataType& type) {
  if (type.id() != ::arrow::Type::TIMESTAMP || !d.logical_type() || !d.logical_type()->is_timestamp()) return false;
  const auto stored = static_cast<const ::parquet::TimestampLogicalType&>(*d.logical_type()).time_unit();
  switch (static_cast<const ::arrow::TimestampType&>(type).unit()) {
    case ::arrow::TimeUnit::MILLI: return stored == ::parquet::LogicalType::TimeUnit::MILLIS;
    case ::arrow::TimeUnit::MICRO: return stored == ::parquet::LogicalType::TimeUnit::MICROS;
    case ::arrow::TimeUnit::NANO: return stored == ::parquet::LogicalType::TimeUnit::NANOS;
    default: return false;
  }
}

inline bool is_unsigned_type(const ::arrow::DataType& type) {
  return ::arrow::is_integer(type.id()) && !::arrow::is_signed_integer(type.id());
}
/// The values of the column are the stored ones: a type that is converted, such as a decimal or a timestamp of 12 bytes,
/// has others.
inline bool is_whole_column(const ::parquet::ColumnDescriptor& d, const ::arrow::DataType& type) {
  if (d.physical_type() == ::parquet::Type::INT32)
    return ::arrow::is_integer(type.id()) || type.id() == ::arrow::Type::DATE32;
  return d.physical_type() == ::parquet::Type::INT64 && (::arrow::is_integer(type.id()) || is_of_unit(d, type));
}
inline bool is_text_column(const ::parquet::ColumnDescriptor& d, const ::arrow::DataType& type) {
  using ::arrow::Type;
  return d.physical_type() == ::parquet::Type::BYTE_ARRAY &&
         (type.id() == Type::STRING || type.id() == Type::BINARY || type.id() == Type::LARGE_STRING);
}

/// Sets the bounds of values of the column. `range`: called with a null pointer to Int32Type …; returns min and max.
template <class F>
void set_bounds(column_bounds& b, const ::parquet::ColumnDescriptor& d, const ::arrow::DataType& type, F range) {
  const bool is_unsigned = is_unsigned_type(type);
  switch (d.physical_type()) {
    case ::parquet::Type::INT32: {
      if (!is_whole_column(d, type)) return;
      const auto [min, max] = range(static_cast<::parquet::Int32Type*>(nullptr));
      return set_whole(b, min, max, is_unsigned, 32);
    }
    case ::parquet::Type::INT64: {
      if (!is_whole_column(d, type)) return;
      const auto [min, max] = range(static_cast<::parquet::Int64Type*>(nullptr));
      return set_whole(b, min, max, is_unsigned, 64);
    }
    case ::parquet::Type::FLOAT: {
      if (type.id() != ::arrow::Type::FLOAT) return;
      const auto [min, max] = range(static_cast<::parquet::FloatType*>(nullptr));
      return set_real(b, min, max);
    }
    case ::parquet::Type::DOUBLE: {
      if (type.id() != ::arrow::Type::DOUBLE) return;
      const auto [min, max] = range(static_cast<::parquet::DoubleType*>(nullptr));
      return set_real(b, min, max);
    }
    case ::parquet::Type::BYTE_ARRAY: {
      if (!is_text_column(d, type)) return;
      const auto [min, max] = range(static_cast<::parquet::ByteArrayType*>(nullptr));
      return set_text(b, min, max);
    }
    default: return;
  }
}

}  // namespace sluice::lib::arrow_parquet
