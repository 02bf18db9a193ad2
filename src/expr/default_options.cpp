// SPDX-License-Identifier: Apache-2.0
#include "expr/default_options.hpp"

#include <map>
#include <new>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "sluice/base/assert.hpp"
#include "sluice/expr/named_arguments.hpp"

namespace sluice::lib {
namespace {

struct options_types {
  absl::Mutex mutex;
  std::map<const element_type*, const char*> defaults ABSL_GUARDED_BY(mutex);
};

/// Never destroyed, like the types.
options_types& all() {
  static options_types& types = *new options_types;
  return types;
}

}  // namespace

void accept_by_name(const element_type& options) {
  SLUICE_REQUIRES(options.kind == kind::structure && options.construct, "a structure with a default constructor");
  for ([[maybe_unused]] const member& m : options.members) SLUICE_REQUIRES(m.type->copy, "members that can be copied");
  options_types& types = all();
  absl::MutexLock lock(&types.mutex);
  const char*& made = types.defaults[&options];
  if (made) return;
  void* room = ::operator new(options.size, std::align_val_t(options.align));
  options.construct(options, room, 1, options.size);
  made = static_cast<const char*>(room);
}

const char* default_options(const element_type& t) {
  options_types& types = all();
  absl::MutexLock lock(&types.mutex);
  auto found = types.defaults.find(&t);
  return found == types.defaults.end() ? nullptr : found->second;
}

const element_type* options_in(const element_type& in) {
  if (in.kind != kind::pair && in.kind != kind::tuple) return nullptr;
  const element_type* last = in.members.back().type;
  return default_options(*last) ? last : nullptr;
}

std::string parameters_text(const element_type& in) {
  if (in.kind != kind::pair && in.kind != kind::tuple) return in.name;
  const element_type* options = options_in(in);
  std::string out;
  for (auto& m : in.members)
    if (m.type != options) absl::StrAppend(&out, out.empty() ? "(" : ", ", m.type->name);
  if (options) {
    const char* values = default_options(*options);
    for (auto& m : options->members) {
      absl::StrAppend(&out, ", ", m.name, "=");
      m.type->print(*m.type, values + m.offset, out);
    }
  }
  return out + ")";
}

}  // namespace sluice::lib
