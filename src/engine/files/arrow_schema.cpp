// SPDX-License-Identifier: Apache-2.0
#include "engine/files/arrow_schema.hpp"

#include "arrow/row_type.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/arrow/columns.hpp"

namespace sluice::lib {
namespace {

/// Prints and reads the schema as text. Structure types of the program distinguish those with equal schemas.
class arrow_schema_codec final : public codec {
 public:
  void print(const void* p, printer& to) const override { to.text(get(p).value); }
  void read(void* p, const argument& a, reading& r) const override {
    if (!is_text_argument(a)) r.expected(a, "a text in quotes, such as \"label: int64\"");
    *static_cast<arrow_schema_arg*>(p) = arrow_schema_arg(text_of(a));
  }
  bool equal(const void* a, const void* b) const override {
    return get(a).value == get(b).value && get(a).row == get(b).row;
  }
  bool takes_text() const override { return true; }
  std::string type_name() const override { return "schema"; }

 private:
  static const arrow_schema_arg& get(const void* p) { return *static_cast<const arrow_schema_arg*>(p); }
};

}  // namespace

arrow_schema_arg::arrow_schema_arg(const element_type& t, std::string_view stage) : row(&t) {
  ArrowSchema tried;
  status why = export_schema(t, &tried);
  if (!why.ok()) throw_status(why.in_stage(stage));
  tried.release(&tried);
  value = arrow::row_text(t);
}

template <> const codec& codec_of<arrow_schema_arg>() {
  static const arrow_schema_codec c;
  return c;
}

}  // namespace sluice::lib
