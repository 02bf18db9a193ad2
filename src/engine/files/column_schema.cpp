// SPDX-License-Identifier: Apache-2.0
#include "engine/files/column_schema.hpp"

#include <absl/strings/str_cat.h>

#include "sluice/base/assert.hpp"
#include "sluice/format/csv_schema.hpp"

namespace sluice::lib {

namespace {

/// Prints and reads the schema as text. Structure types of the program distinguish those with equal schemas.
class column_schema_codec final : public codec {
 public:
  void print(const void* p, printer& to) const override { to.text(get(p).value); }
  void read(void* p, const argument& a, reading& r) const override {
    if (!is_text_argument(a)) r.expected(a, "a text in quotes, such as \"label: int64, text: bytes\"");
    *static_cast<column_schema_arg*>(p) = column_schema_arg(text_of(a));
  }
  bool equal(const void* a, const void* b) const override {
    return get(a).value == get(b).value && row_of(get(a)) == row_of(get(b));
  }
  bool takes_text() const override { return true; }
  std::string type_name() const override { return "schema"; }

 private:
  static const column_schema_arg& get(const void* p) { return *static_cast<const column_schema_arg*>(p); }
  static const element_type* row_of(const column_schema_arg& a) { return a.schema ? a.schema->row : nullptr; }
};

}  // namespace

result<csv_schema> column_schema_arg::columns() const {
  SLUICE_REQUIRES(is_said(), "no schema is given");
  return schema ? result<csv_schema>(*schema) : csv_schema_of(value);
}

column_schema_arg detail::columns_of(const element_type& row, std::string_view schema, std::string_view op) {
  return {schema.empty() ? csv_schema_of(row) : csv_schema_of(row, schema), op};
}

column_schema_arg::column_schema_arg(result<csv_schema> s, std::string_view op) {
  if (!s.ok())
    throw_status(status(s.why().code(), absl::StrCat(std::string(op), ": ", std::string(s.why().message()))));
  value = csv_schema_text(*s);
  schema = std::make_shared<const csv_schema>(std::move(*s));
}

template <> const codec& codec_of<column_schema_arg>() {
  static const column_schema_codec c;
  return c;
}

}  // namespace sluice::lib
