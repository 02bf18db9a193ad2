// SPDX-License-Identifier: Apache-2.0
#include "pipeline/seal.hpp"

#include "pipeline/checkpoint_bytes.hpp"
#include "sluice/base/crc32c.hpp"
#include "sluice/base/status.hpp"
#include "sluice/coro/position.hpp"

namespace sluice::lib {
namespace {

constexpr std::string_view kSealMagic("sluice\x05", 7);  // the last byte is the format's version
constexpr char kOldestVersion = 4;
constexpr char kVersionWithOrder = 6;

/// How a seal records the values that a function holds.
enum : std::uint64_t { kValuesUnknown, kNoValues, kValuesFollow };

void put(std::string& out, const auto& value) { out.append(reinterpret_cast<const char*>(&value), sizeof value); }
template <class T> T take(std::string_view& in) {
  T value;
  in.copy(reinterpret_cast<char*>(&value), sizeof value);
  in.remove_prefix(sizeof value);
  return value;
}

/// Reads at most one identity more than `expected`: such a number belongs to another plan, or is forged.
std::vector<function_identity> read_identities(std::string_view bytes, std::size_t expected) {
  std::vector<function_identity> identities;
  position_reader r(bytes);
  std::size_t left = r.count();
  for (; left && identities.size() <= expected && r.ok(); --left) {
    function_identity& f = identities.emplace_back();
    f.name = r.text();
    f.version = static_cast<int>(r.number());
    std::uint64_t values = r.number();
    if (values > kValuesFollow) r.fail();
    f.values_known = values != kValuesUnknown;
    if (values == kValuesFollow) r.raw(&f.values, sizeof f.values);
  }
  if (!r.ok() || (left == 0 && !r.done()))
    throw_status(data_loss_error("the checkpoint is damaged: its list of functions is cut off"));
  return identities;
}

[[noreturn]] void refuse_other_plan(const std::string& difference) {
  throw_status(failed_precondition_error(
      difference.empty() ? "the checkpoint was made by another plan. Only these may differ: knobs (parallelism, "
                           "prefetch's elements, reads_in_flight) and limits of bad elements (errors_max); and of the "
                           "run its error policy, from stop to skip. If its files have moved, say so: --rebase OLD=NEW "
                           "(iterate_options::rebase)"
                         : "the checkpoint was made by another plan: " + difference));
}

}  // namespace

std::string written_identities(const std::vector<function_identity>& identities) {
  position_writer w;
  w.number(identities.size());
  for (const function_identity& f : identities) {
    w.text(f.name);
    w.number(static_cast<std::uint64_t>(f.version));
    w.number(!f.values_known ? kValuesUnknown : f.values ? kValuesFollow : kNoValues);
    if (f.values_known && f.values) w.raw(&f.values, sizeof f.values);
  }
  return w.bytes();
}

std::string seal_position(const sealed_position& p) {
  std::string out(kSealMagic);
  if (!p.order.empty()) out.back() = kVersionWithOrder;
  put(out, p.fingerprint);
  put(out, p.seed);
  put(out, p.on_error);
  position_writer header;
  header.number(p.epoch);
  header.text(p.inputs);
  header.text(p.identities);
  if (!p.order.empty()) header.text(p.order);
  out += header.bytes();
  out += p.position;
  put(out, crc32c(out));
  return out;
}

std::uint64_t fingerprint_of_sealed(std::string_view bytes) {
  constexpr std::size_t kName = kSealMagic.size() - 1;
  if (bytes.size() < kSealMagic.size() + 8 || bytes.substr(0, kName) != kSealMagic.substr(0, kName)) return 0;
  bytes.remove_prefix(kSealMagic.size());
  return take<std::uint64_t>(bytes);
}

sealed_position read_seal(std::string_view bytes) {
  constexpr std::size_t kEnvelope = kSealMagic.size() + 8 + 8 + 1 + 3 + 4;  // with three empty texts or zeros
  if (bytes.substr(0, kSealMagic.size() - 1) != kSealMagic.substr(0, kSealMagic.size() - 1))
    throw_status(data_loss_error("this is no checkpoint of sluice"));
  if (bytes.size() < kEnvelope) throw_status(damaged_checkpoint(bytes.size()));
  const char version = bytes[kSealMagic.size() - 1];
  if (version < kOldestVersion || version > kVersionWithOrder)
    throw_status(failed_precondition_error("the checkpoint was written by another version of sluice"));
  std::string_view sealed = bytes.substr(0, bytes.size() - 4), crc = bytes.substr(bytes.size() - 4);
  if (take<std::uint32_t>(crc) != crc32c(sealed)) throw_status(damaged_checkpoint(bytes.size()));
  sealed.remove_prefix(kSealMagic.size());
  sealed_position p;
  p.fingerprint = take<std::uint64_t>(sealed);
  p.seed = take<std::uint64_t>(sealed);
  p.on_error = take<error_policy>(sealed);
  position_reader rest(sealed);
  p.epoch = rest.number();
  p.inputs = rest.text();
  p.identities = rest.text();
  if (version == kVersionWithOrder) p.order = rest.text();
  if (!rest.ok() || (version == kVersionWithOrder && p.order.empty())) throw_status(data_loss_error("the checkpoint is damaged: its lengths do not fit"));
  p.position = rest.remaining();
  return p;
}

sealed_position unseal_position(std::string_view bytes, std::uint64_t fingerprint,
                                const std::vector<function_identity>& here, error_policy on_error) {
  sealed_position p = read_seal(bytes);
  std::string difference = difference_of(read_identities(p.identities, here.size()), here);
  if (p.fingerprint != fingerprint || !difference.empty()) refuse_other_plan(difference);
  if (p.on_error != error_policy::stop && on_error == error_policy::stop)
    throw_status(failed_precondition_error(
        "the checkpoint was made by a run that drops bad elements; continue under the same error policy"));
  return p;
}

}  // namespace sluice::lib
