// SPDX-License-Identifier: Apache-2.0
#include "sluice/plan/function.hpp"

#include <map>
#include <typeinfo>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"

namespace sluice::lib {

namespace {

struct registry {
  absl::Mutex mutex;
  std::map<std::string, std::vector<function_ptr>, std::less<>> forms ABSL_GUARDED_BY(mutex);
  std::vector<std::string>* errors ABSL_GUARDED_BY(mutex) = nullptr;  ///< null: errors are thrown
};

/// Created by the first static initializer that needs it, and never destroyed.
registry& functions() {
  static registry& r = *new registry;
  return r;
}

bool is_same_form(const stage_function& a, const stage_function& b) { return typeid(a) == typeid(b); }

void refuse(registry& r, std::string why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(r.mutex) {
  if (!r.errors) throw error(status(status_code::already_exists, std::move(why)));
  r.errors->push_back(std::move(why));
}

}  // namespace

stage_function::~stage_function() = default;
function_ptr stage_function::for_input(const element_type&) const { return nullptr; }
const expression* stage_function::as_expression() const { return nullptr; }
function_ptr stage_function::with_expression(std::string_view, const element_type*) const { return nullptr; }

void add_function(function_ptr function) {
  auto& r = functions();
  absl::MutexLock lock(&r.mutex);
  auto& forms = r.forms[function->name];
  for (auto& known : forms) {
    bool may_differ = known->is_overload && function->is_overload;
    if (known->version != function->version || (known->in != function->in && !may_differ))
      return refuse(r,
                    absl::StrCat("the function ", function->name, " is registered twice, as version ", known->version,
                                 " and as version ", function->version, ", or for different elements"));
    if (known->in == function->in && is_same_form(*known, *function))
      return;  // the same header in another shared library
  }
  forms.push_back(std::move(function));
}

std::vector<function_ptr> find_functions(std::string_view name) {
  auto& r = functions();
  absl::MutexLock lock(&r.mutex);
  auto found = r.forms.find(name);
  return found == r.forms.end() ? std::vector<function_ptr>() : found->second;
}

std::vector<std::string> function_names() {
  auto& r = functions();
  absl::MutexLock lock(&r.mutex);
  std::vector<std::string> names;
  for (auto& [name, forms] : r.forms) names.push_back(name);
  return names;
}

namespace detail {

void SLUICE_DETAIL_VERSIONED(compiled_for, SLUICE_VERSION_MAJOR, SLUICE_VERSION_MINOR)() noexcept {}

void note_registration_errors(std::vector<std::string>* to) {
  auto& r = functions();
  absl::MutexLock lock(&r.mutex);
  r.errors = to;
}

function_ptr adopt(const stage_function* f) { return function_ptr(f); }

}  // namespace detail

}  // namespace sluice::lib
