// SPDX-License-Identifier: Apache-2.0
#include "io/http/tls_layer.hpp"

namespace sluice::lib::detail {
namespace {

class no_tls final : public secure_layer {
 public:
  task<std::unique_ptr<connection>> over(std::unique_ptr<connection>, std::string, time_point) override {
    co_await fail(unimplemented_error("https:// was not built in: it needs OpenSSL (meson option tls)"));
    co_return {};
  }
};

}  // namespace

std::shared_ptr<secure_layer> make_tls_layer(const std::string&) { return std::make_shared<no_tls>(); }

}  // namespace sluice::lib::detail
