// SPDX-License-Identifier: Apache-2.0
#include "output/file_sink.hpp"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/files/system_calls.hpp"
#include "io/paths/file_router.hpp"
#include "output/data_folder.hpp"
#include "output/encoders/mds_encoder.hpp"
#include "output/output_file.hpp"
#include "output/output_stream.hpp"
#include "sluice/element/type_text.hpp"
#include "sluice/format/inflate.hpp"
#include "sluice/io/files.hpp"

namespace sluice::lib {
namespace {

constexpr std::size_t kPulledBytes = 64 << 10;

/// "jsonl", "csv with gzip in 4 shards".
std::string described(std::string_view format, std::string_view packing, std::uint64_t shards, std::uint64_t bytes) {
  std::string text(format);
  if (packing != "none") absl::StrAppend(&text, " with ", std::string(packing));
  if (bytes != 0) absl::StrAppend(&text, " in shards of ", print_byte_size(static_cast<std::int64_t>(bytes)));
  else if (shards != 1) absl::StrAppend(&text, " in ", shards, " shards");
  return text;
}

/// The suffix of a file of this format: ".jsonl".
std::string_view suffix_of_format(output_format f) {
  using enum output_format;
  switch (f) {
    case jsonl: return ".jsonl";
    case csv: return ".csv";
    case text_lines: return ".txt";
    case tfrecords:
    case example: return ".tfrecord";
    case numpy: return ".npy";
    case parquet: return ".parquet";
    default: return ".arrow";
  }
}

/// Shards have the names that the library of MDS gives them. They follow one another, since its readers read them so.
status place_in_mds_folder(output_options& o) {
  if (o.shards != 1)
    return invalid_argument_error(
               "the shards of MDS follow one another, and elements cannot alternate between them: set the size of a "
               "shard (--shard-size, write_options::shard_bytes) in place of their number")
        .in_file(o.path);
  if (o.compression != compression::none)
    return invalid_argument_error("shards of MDS are written without compression: leave it out").in_file(o.path);
  if (o.shard_bytes == 0) o.shard_bytes = kMdsShardBytes;
  if (o.shard_bytes >= std::uint64_t{1} << 32)
    return invalid_argument_error("a shard of MDS has less than 4 GiB").in_file(o.path);
  o.path += "shard.{shard:05d}.mds";
  return {};
}

}  // namespace

status place_in_folder(output_options& o) {
  if (!names_data_folder(o.path)) {
    if (o.format != output_format::mds_folder) return {};
    return invalid_argument_error("mds writes a folder: end the path with a slash, as in mds:train/").in_file(o.path);
  }
  if (o.is_remote())
    return invalid_argument_error(
               "a folder with a manifest is local; name the objects, as in s3://bucket/out/part.arrow")
        .in_file(o.path);
  if (o.format == output_format::raw)
    return invalid_argument_error(
               "raw files have no boundaries between elements, so load() could not read the folder; "
               "name a file, or write another format")
        .in_file(o.path);
  if (o.format == output_format::automatic) o.format = output_format::arrow;
  o.folder = o.path;
  if (o.format == output_format::mds_folder) return place_in_mds_folder(o);
  absl::StrAppend(&o.path, "part", std::string(suffix_of_format(o.format)));
  if (o.compression == compression::gzip) o.path += ".gz";
  if (o.compression == compression::zstd) o.path += ".zst";
  return {};
}

task<> element_sink::send() {
  [[maybe_unused]] const bool has_sent = true;  // a sink without unsent bytes is done
  co_return;
}

task<> complete_shard(element_sink& sink) {
  status why = sink.end_shard();
  if (!why.ok()) co_await fail(std::move(why));
  if (!sink.has_unsent()) co_return;
  auto sending = sink.send();
  co_await sending;
}

std::uint32_t null_sink::wanted(const element_type& t) const {
  // This number of elements keeps the block in a core's L2 on its way through the stages.
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(kPulledBytes / t.size, 16, 1 << 15));
}

bool output_options::is_remote() const { return detail::is_remote(path); }

status check_can_resume(const output_options& o, const std::string& checkpoint_path) {
  if (checkpoint_path.empty()) return {};
  if (detail::is_remote(checkpoint_path))
    return invalid_argument_error("a checkpoint is a local file").in_file(checkpoint_path);
  if (!o.is_remote() || o.shard_bytes != 0) return {};
  return invalid_argument_error(
             "a remote object cannot be added to, so a run that writes it cannot be continued: write several objects "
             "(--shard-size, write_options::shard_bytes), of which complete ones are kept, or leave out the checkpoint")
      .in_file(o.path);
}

file_sink::file_sink(const output_options& o, const element_type& type)
    : o_(o), type_(type), names_(o.path, o.shard_bytes != 0 ? 0 : o.shards), kept_(o.rt) {}

result<std::unique_ptr<file_sink>> file_sink::open(const output_options& o, const element_type& type,
                                                   const output_start& start, std::uint64_t& cut_bytes) {
  cut_bytes = 0;
  const bool is_stream = o.descriptor >= 0 || (!o.is_sharded() && output_file::is_stream(o.path));
  if (o.is_remote() && o.format == output_format::numpy)
    return unimplemented_error(
               "an npy file's first bytes, which contain the array's length, are written last, and a remote object is "
               "written once: write a local file, and copy it")
        .in_file(o.path);
  if (o.is_sharded() && is_stream) return unimplemented_error("a stream cannot be split into shards").in_file(o.path);
  if (o.format == output_format::numpy && (o.compression != compression::none || is_stream))
    return unimplemented_error(
        "an npy file is not compressed, and no stream: its first bytes, which contain the array's length, are written "
        "last");
  if (o.format == output_format::parquet && o.compression != compression::none)
    return invalid_argument_error(
               "a Parquet file is not compressed as a whole: end its name in .parquet, and its pages are compressed")
        .in_file(o.path);
  if (o.format == output_format::array_records && o.compression != compression::none)
    return invalid_argument_error(
               "an ArrayRecord file is not compressed as a whole: end its name in .array_record; --compression none or "
               "zstd is that of its chunks")
        .in_file(o.path);
  if (o.format == output_format::bagz_records && o.compression != compression::none)
    return invalid_argument_error(
               "a Bagz file is not compressed as a whole: end its name in .bagz, and each record is a zstd frame; "
               "--compression none or zstd is that of the records")
        .in_file(o.path);
  std::unique_ptr<file_sink> sink(new file_sink(o, type));
  status why = o.is_sharded() ? sink->names_.check() : status();
  if (why.ok()) why = sink->begin_folder(start.continues && !start.from.empty());
  if (why.ok()) why = sink->resume(start, cut_bytes);
  if (!why.ok()) return why;
  return sink;
}

status file_sink::check_same_output(const output_place& from) const {
  const std::string was = described(from.format, from.compression, from.shards, from.shard_bytes);
  const std::string is = described(to_string(o_.format), to_string(o_.compression), o_.shards, o_.shard_bytes);
  if (was == is) return {};
  return failed_precondition_error(absl::StrCat("the checkpoint's output is ", was, ", not ", is)).in_file(o_.path);
}

status file_sink::resume(const output_start& start, std::uint64_t& cut_bytes) {
  const output_place* from = start.continues ? &start.from : nullptr;
  if (from && !from->empty()) {
    status why = check_same_output(*from);
    if (!why.ok()) return why;
    elements_ = from->elements;
    first_shard_ = from->first_shard;
  }
  std::uint64_t parts = o_.shard_bytes != 0 ? 1 : o_.shards;
  // A shard begins with its first element, so that no shard is empty, except the first shard of an output without
  // elements.
  if (o_.shard_bytes != 0 && from && !from->empty() && from->files.empty() && from->elements != 0) parts = 0;
  for (std::size_t i = 0; i != parts; ++i) {
    status why = open_part(from, i, cut_bytes);
    if (!why.ok()) return why;
  }
  bytes_before_ = written_bytes();
  return {};
}

status file_sink::open_part(const output_place* from, std::size_t index, std::uint64_t& cut_bytes) {
  const std::string path = name_of(first_shard_ + index);
  const shard_place place = from && index < from->files.size() ? from->files[index] : shard_place{};
  std::unique_ptr<byte_output> to;
  bool is_begun = place.is_file() && place.length_bytes != 0;
  if (o_.descriptor >= 0 || output_file::is_stream(path)) {
    auto stream = open_stream(from, is_begun, cut_bytes);
    if (!stream.ok()) return stream.why();
    to = *std::move(stream);
  } else if (o_.is_remote()) {
    remote_.push_back(std::make_shared<remote_file>(path));
    to = std::make_unique<remote_output>(remote_.back());
  } else {
    auto file = std::make_unique<output_file>();
    std::uint64_t cut = 0;
    const std::string was_named = !from || o_.is_sharded() ? path : from->path;
    status why = from ? file->resume(path, was_named, place, cut) : file->begin(path);
    if (!why.ok()) return why;
    cut_bytes += cut;
    to = std::move(file);
  }
  auto encoder = make_encoder(o_.format, type_, buffers_of_path(o_.format, o_.path, o_.buffers), group_bytes());
  if (!encoder.ok()) return encoder.why();
  if (o_.rows) (*encoder)->expect_rows(*o_.rows);
  auto compressor = make_member_compressor(o_.compression);
  if (!compressor.ok()) return compressor.why();
  auto part = std::make_unique<output_part>(*std::move(encoder), *std::move(compressor), std::move(to));
  status why = is_begun ? part->resume(place) : part->begin();
  if (why.ok()) parts_.push_back(std::move(part));
  return why;
}

std::uint64_t file_sink::group_bytes() const {
  // Shards that alternate gather their groups at the same time. One that has a size ends with a group.
  constexpr std::uint64_t kGroupBytesMin = std::uint64_t{1} << 20;
  if (o_.row_group_bytes != 0) return o_.row_group_bytes;
  if (o_.shard_bytes != 0) return std::min(kParquetGroupBytes, o_.shard_bytes);
  return std::max(kParquetGroupBytes / o_.shards, kGroupBytesMin);
}

result<std::unique_ptr<byte_output>> file_sink::open_stream(const output_place* from, bool& is_begun,
                                                            std::uint64_t& cut_bytes) {
  if (o_.descriptor < 0) {
    int fd = open_again(o_.path, O_WRONLY | O_NOCTTY);
    if (fd < 0) return errno_error(errno, "cannot create").in_file(o_.path);
    return std::unique_ptr<byte_output>(std::make_unique<output_stream>(fd, o_.path, o_.stop_fd, true));
  }
  const std::string name = o_.path.empty() ? "standard output" : o_.path;
  auto out = std::make_unique<output_stream>(o_.descriptor, name, o_.stop_fd, false);
  // Standard output may be another file by now.
  is_begun = is_begun && out->is_file_of(*from);
  if (from && !from->empty() && from->path.empty()) {
    status why = out->resume(*from, cut_bytes);
    if (!why.ok()) return why;
  }
  return std::unique_ptr<byte_output>(std::move(out));
}

status file_sink::begin_part() {
  std::uint64_t unused = 0;
  return open_part(nullptr, 0, unused);
}

status file_sink::take(const block& elements) {
  const std::uint32_t n = elements.size();
  if (o_.shard_bytes != 0) return take_by_size(elements);
  if (parts_.size() == 1) {
    parts_[0]->begin_block();
    status why = parts_[0]->append(elements, 0, n);
    if (why.ok()) why = parts_[0]->flush_if_watched();
    if (why.ok()) why = charge_kept();
    if (why.ok()) elements_ += n;
    else elements_ += taken() == kUnknown ? 0 : taken();
    return why;
  }
  for (std::uint32_t i = 0; i != n; ++i) {
    status why = parts_[elements_ % parts_.size()]->append(elements, i, 1);
    if (!why.ok()) return why;
    ++elements_;
  }
  return charge_kept();
}

status file_sink::charge_kept() {
  std::size_t bytes = 0;
  for (const auto& part : parts_) bytes += part->kept_bytes();
  return kept_.resize(bytes);
}

status file_sink::take_to(std::size_t shard, const block& elements, std::uint32_t i) {
  status why = parts_[shard]->append(elements, i, 1);
  if (why.ok()) ++elements_;
  return why;
}

status file_sink::take_by_size(const block& elements) {
  for (std::uint32_t i = 0; i != elements.size(); ++i) {
    status why = parts_.empty() ? begin_part() : status();
    if (why.ok()) why = parts_[0]->append(elements, i, 1);
    if (!why.ok()) return why;
    ++elements_;
    ++part_elements_;
    if (parts_[0]->plain_bytes() < o_.shard_bytes) why = charge_kept();
    else why = finish_part();
    if (!why.ok()) return why;
  }
  return {};
}

status file_sink::begin_folder(bool continues) {
  if (o_.folder.empty()) return {};
  std::error_code why;
  std::filesystem::create_directories(o_.folder, why);
  if (why) return errno_error(why.value(), "cannot create the folder").in_file(o_.folder);
  auto there = read_data_folder(o_.folder);
  if (there.ok())
    for (const data_folder::file& f : there->files) old_files_.push_back(f.name);
  // Until the first file is replaced, a complete folder stays readable.
  return there.ok() && !continues ? status() : mark_folder(false);
}

status file_sink::index_mds_folder(bool is_complete) const {
  if (o_.format != output_format::mds_folder) return {};
  if (!is_complete) {
    std::error_code why;
    std::filesystem::remove(o_.folder + kMdsIndexName, why);  // the shards that it describes are replaced
    return why ? errno_error(why.value(), "cannot remove the index of an earlier output").in_file(o_.folder) : status();
  }
  std::vector<written_shard> shards;
  for (std::uint64_t i = 0; i != files(); ++i) {
    const auto digest = digests_.find(i);
    shards.push_back({name_of(i).substr(o_.folder.size()), digest == digests_.end() ? std::string() : digest->second});
  }
  return write_mds_index(o_.folder, type_, shards, o_.shard_bytes);
}

status file_sink::mark_folder(bool is_complete) {
  if (o_.folder.empty() || (is_marked_ && !is_complete)) return {};
  if (status why = index_mds_folder(is_complete); !why.ok()) return why;
  data_folder d{.is_complete = is_complete,
                .format = std::string(to_string(o_.format)),
                .compression = std::string(to_string(o_.compression)),
                .type = type_text(type_),
                .elements = elements_,
                .alternates = o_.shards != 1 && !o_.by_function,
                .files = {},
                .origin = o_.origin};
  for (std::uint64_t i = 0; is_complete && i != files(); ++i) {
    const std::string path = name_of(i);
    std::error_code why;
    const std::uint64_t bytes = std::filesystem::file_size(path, why);
    if (why) return errno_error(why.value(), "cannot read the size of a file").in_file(path);
    d.files.push_back({path.substr(o_.folder.size()), bytes});
  }
  status why = write_manifest(o_.folder, d);
  is_marked_ = why.ok();
  if (why.ok() && is_complete) remove_old_files();
  return why;
}

void file_sink::remove_old_files() const {
  for (const std::string& old : old_files_) {
    bool is_kept = false;
    for (std::uint64_t i = 0; i != files() && !is_kept; ++i) is_kept = name_of(i) == o_.folder + old;
    std::error_code unknown;  // a file that stays is in no manifest, so it is not read
    if (!is_kept) std::filesystem::remove(o_.folder + old, unknown);
  }
}

status file_sink::finish_part() {
  shard_place unused;
  status why = mark_folder(false);
  if (why.ok()) why = parts_[0]->commit(unused);
  if (why.ok()) why = parts_[0]->finish();
  if (!why.ok()) return why;
  if (std::string digest = parts_[0]->digest(); !digest.empty()) digests_[first_shard_] = std::move(digest);
  finished_bytes_ += parts_[0]->written_bytes();
  parts_.clear();
  part_elements_ = 0;
  ++first_shard_;
  return charge_kept();
}

status file_sink::end_shard() {
  const bool cannot_grow = o_.is_remote() || o_.format == output_format::mds_folder;
  const bool may_end = cannot_grow && o_.shard_bytes != 0 && part_elements_ != 0;
  return may_end ? finish_part() : status();
}

std::uint32_t file_sink::taken() const { return o_.is_sharded() ? kUnknown : parts_[0]->taken(); }

status file_sink::commit(output_place& place) {
  place = {};
  for (const auto& part : parts_) {
    status why = part->commit(place.files.emplace_back());
    if (!why.ok()) return why;
  }
  // An output that cannot be resumed, such as a pipe, is not named.
  // Complete shards that cannot grow are named by their number; the one that has just begun has no element.
  if (o_.is_remote() || o_.format == output_format::mds_folder) place.files.clear();
  const bool is_named = o_.is_remote() ? o_.shard_bytes != 0 : o_.is_sharded() || place.files[0].is_file();
  if (!is_named) {
    place = {};
    return {};
  }
  place.format = to_string(o_.format);
  place.compression = to_string(o_.compression);
  if (o_.descriptor < 0) place.path = o_.path;
  place.shards = o_.shards;
  place.shard_bytes = o_.shard_bytes;
  place.elements = elements_;
  place.first_shard = first_shard_;
  return {};
}

void file_sink::keep() {
  for (const auto& part : parts_) part->keep();
}

status file_sink::finish(bool may_go_on) {
  status why = mark_folder(false);
  if (!why.ok()) return why;
  for (std::size_t i = 0; i != parts_.size(); ++i) {
    why = parts_[i]->finish();
    if (!why.ok()) return why;
    if (std::string digest = parts_[i]->digest(); !digest.empty()) digests_[first_shard_ + i] = std::move(digest);
  }
  replaces_ = o_.shard_bytes != 0 && !may_go_on;
  if (replaces_ && !o_.is_remote()) why = remove_later_shards();
  return why.ok() ? mark_folder(true) : why;
}

bool file_sink::has_unsent() const {
  const bool must_look = replaces_ && o_.is_remote();  // for later shards
  return must_look || std::any_of(remote_.begin(), remote_.end(), [](const auto& f) { return f->has_much(); });
}

task<> file_sink::send() {
  for (std::size_t i = 0; i != remote_.size(); ++i) {
    if (!remote_[i]->has_much()) continue;
    auto sending = remote_[i]->send(*o_.rt);
    co_await sending;
  }
  std::erase_if(remote_, [](const auto& f) { return f->is_done(); });
  if (!replaces_ || !remote_.empty()) co_return;
  replaces_ = false;
  auto looking = refuse_later_shard();
  co_await looking;
}

/// For file systems that can create files but cannot remove them.
task<> file_sink::refuse_later_shard() {
  const std::string path = name_of(files());
  auto looking = files_of(*o_.rt).stat(path, io_deadline(*o_.rt));
  auto found = co_await looking.as_result();
  if (!found.ok()) co_return;
  status why =
      failed_precondition_error("is a shard of an earlier, longer output, and stays: the new output, which has " +
                                std::to_string(files()) + " files, is complete; remove the later ones")
          .in_file(path);
  co_await fail(std::move(why));
}

status file_sink::remove_later_shards() const {
  for (std::uint64_t shard = files();; ++shard) {
    const std::string path = name_of(shard);
    std::error_code why;
    if (!std::filesystem::is_regular_file(path, why)) return {};
    if (::unlink(path.c_str()) != 0)
      return errno_error(errno, "cannot remove a shard of an earlier output").in_file(path);
  }
}

std::uint32_t file_sink::wanted(const element_type& type) const {
  if (!parts_.empty()) return parts_[0]->wanted();
  return type.kind == kind::batch ? 16 : 256;
}

bool file_sink::closed() const { return !parts_.empty() && parts_[0]->closed(); }

std::uint64_t file_sink::written_bytes() const {
  std::uint64_t bytes = finished_bytes_;
  for (const auto& part : parts_) bytes += part->written_bytes();
  return bytes - bytes_before_;
}

}  // namespace sluice::lib
