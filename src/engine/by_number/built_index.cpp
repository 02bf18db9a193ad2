// SPDX-License-Identifier: Apache-2.0
#include "engine/by_number/built_index.hpp"

#include <absl/strings/str_cat.h>

#include <cstring>
#include <utility>

#include "sluice/base/buffer.hpp"
#include "sluice/format/record_index.hpp"
#include "sluice/io/files.hpp"

namespace sluice::lib {

task<std::uint64_t> write_index_of(runtime& rt, const element_places& places) {
  const record_index& index = places.index();
  auto looking = files_of(rt).stat(places.path(), io_deadline(rt));
  const file_info now = co_await looking;
  if (!index.difference_from(now, index.kind).empty())
    co_await fail(unavailable_error("was written to while its index was built; try again").in_file(places.path()));
  const std::string bytes = index_bytes(index);
  buffer_ref from(buffer::make(bytes.size()));
  std::memcpy(from->data(), bytes.data(), bytes.size());
  auto creating = files_of(rt).create(absl::StrCat(places.path(), std::string(kIndexSuffix)), io_deadline(rt));
  std::unique_ptr<file_writer> out = co_await creating;
  auto writing = out->write(std::move(from), 0, bytes.size(), io_deadline(rt));
  co_await writing;
  auto committing = out->commit(io_deadline(rt));
  co_await committing;
  co_return std::uint64_t{bytes.size()};
}

built_index::built_index(std::shared_ptr<run_context> run, byte_source& source, const element_format& format,
                         const error_gate& gate)
    : run_(std::move(run)), source_(source), format_(format), gate_(gate) {}

status built_index::begin(bool wants_own) {
  if (run_->places) {
    places_ = run_->places.get();
  } else if (wants_own) {
    own_ = std::make_shared<element_places>(0);
    places_ = own_.get();
  }
  if (!places_) return {};
  const compression by = source_.compressed() ? source_.compressed_by() : compression::none;
  status why = places_->begin(source_.path(), source_.info(), format_.index_kind(), by);
  if (why.ok()) {
    source_.note_points(places_->points());
    memory_.emplace(run_, gate_.line(purpose::open_file), gate_.label(), "the index that is built of the file",
                    own_ ? "read with index=automatic to build none" : "index a file of fewer elements");
  }
  if (why.ok() || !own_) return why;
  abandon();  // a stream, for example: the next run may read a file
  return {};
}

status built_index::charge() {
  if (!places_) return {};
  status fits = memory_->resize(places_->memory_bytes());
  if (fits.ok() || !own_) return fits;
  run_->warn(absl::StrCat("no index of ", source_.path(), " is written: ", std::string(fits.message())));
  abandon();
  return {};
}

void built_index::abandon() {
  if (!own_) return;
  if (places_) places_->drop();
  places_ = nullptr;
  memory_.reset();
}

task<void> built_index::end(std::uint64_t elements) {
  if (!places_) co_return;
  const byte_window rest = source_.window();
  places_->end(elements, source_.compressed() ? rest.offset + rest.bytes.size() : 0);  // its memory does not change
  if (!own_) co_return;
  auto writing = write_index_of(*run_->rt, *own_);
  const result<std::uint64_t> written = co_await writing.as_result();
  if (!written.ok())
    run_->warn(absl::StrCat("no index of ", source_.path(), " was written: ", written.why().to_string(),
                            "; read with index=automatic to build none"));
}

}  // namespace sluice::lib
