// SPDX-License-Identifier: Apache-2.0
#include "io/parquet/decimal_texts.hpp"

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/extension_type.h>
#include <arrow/util/checked_cast.h>

#include <utility>
#include <vector>

namespace sluice::lib::arrow_parquet {
namespace {

using ::arrow::ArrayData;
using ::arrow::DataType;
using ::arrow::Result;

template <class Array>
Result<std::shared_ptr<ArrayData>> texts_of(const std::shared_ptr<ArrayData>& data, ::arrow::MemoryPool* pool) {
  const Array values(data);
  ::arrow::StringBuilder texts(pool);
  ARROW_RETURN_NOT_OK(texts.Reserve(values.length()));
  for (int64_t i = 0; i != values.length(); ++i) {
    if (values.IsNull(i)) texts.UnsafeAppendNull();
    else ARROW_RETURN_NOT_OK(texts.Append(values.FormatValue(i)));
  }
  std::shared_ptr<ArrayData> made;
  ARROW_RETURN_NOT_OK(texts.FinishInternal(&made));
  return made;
}

std::shared_ptr<DataType> with_fields(const DataType& type, std::vector<std::shared_ptr<::arrow::Field>> fields) {
  switch (type.id()) {
    case ::arrow::Type::STRUCT: return ::arrow::struct_(std::move(fields));
    case ::arrow::Type::LIST: return ::arrow::list(fields[0]);
    case ::arrow::Type::LARGE_LIST: return ::arrow::large_list(fields[0]);
    case ::arrow::Type::FIXED_SIZE_LIST:
      return ::arrow::fixed_size_list(
          fields[0], ::arrow::internal::checked_cast<const ::arrow::FixedSizeListType&>(type).list_size());
    case ::arrow::Type::MAP: {
      const auto& entries = *fields[0]->type();
      return std::make_shared<::arrow::MapType>(
          entries.field(0), entries.field(1),
          ::arrow::internal::checked_cast<const ::arrow::MapType&>(type).keys_sorted());
    }
    default: return nullptr;
  }
}

}  // namespace

std::shared_ptr<DataType> without_decimals(const std::shared_ptr<DataType>& type) {
  switch (type->id()) {
    case ::arrow::Type::DECIMAL32:
    case ::arrow::Type::DECIMAL64:
    case ::arrow::Type::DECIMAL128:
    case ::arrow::Type::DECIMAL256: return ::arrow::utf8();
    case ::arrow::Type::DICTIONARY: {
      const auto& values = ::arrow::internal::checked_cast<const ::arrow::DictionaryType&>(*type);
      auto other = without_decimals(values.value_type());
      return other == values.value_type() ? type : ::arrow::dictionary(values.index_type(), other, values.ordered());
    }
    default: break;
  }
  if (type->num_fields() == 0) return type;
  std::vector<std::shared_ptr<::arrow::Field>> fields;
  bool is_same = true;
  for (const auto& f : type->fields()) {
    auto other = without_decimals(f->type());
    is_same &= other == f->type();
    fields.push_back(other == f->type() ? f : f->WithType(other));
  }
  if (is_same) return type;
  auto made = with_fields(*type, std::move(fields));
  return made ? made : type;
}

Result<std::shared_ptr<ArrayData>> without_decimals(const std::shared_ptr<ArrayData>& data,
                                                    const std::shared_ptr<DataType>& type, ::arrow::MemoryPool* pool) {
  if (data->type == type || data->type->Equals(*type)) return data;
  switch (data->type->id()) {
    case ::arrow::Type::DECIMAL32: return texts_of<::arrow::Decimal32Array>(data, pool);
    case ::arrow::Type::DECIMAL64: return texts_of<::arrow::Decimal64Array>(data, pool);
    case ::arrow::Type::DECIMAL128: return texts_of<::arrow::Decimal128Array>(data, pool);
    case ::arrow::Type::DECIMAL256: return texts_of<::arrow::Decimal256Array>(data, pool);
    default: break;
  }
  auto made = std::make_shared<ArrayData>(*data);
  made->type = type;
  if (data->dictionary) {
    const auto& values = ::arrow::internal::checked_cast<const ::arrow::DictionaryType&>(*type).value_type();
    ARROW_ASSIGN_OR_RAISE(made->dictionary, without_decimals(data->dictionary, values, pool));
  }
  for (std::size_t i = 0; i != made->child_data.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(made->child_data[i],
                          without_decimals(data->child_data[i], type->field(static_cast<int>(i))->type(), pool));
  }
  return made;
}

}  // namespace sluice::lib::arrow_parquet
