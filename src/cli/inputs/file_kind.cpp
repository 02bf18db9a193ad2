// SPDX-License-Identifier: Apache-2.0
#include "cli/inputs/file_kind.hpp"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

#include "base/text/plan_quotes.hpp"
#include "base/text/redacted.hpp"
#include "cli/inputs/plan_argument.hpp"
#include "cli/inputs/text_kind.hpp"
#include "format/archive/tar_archive.hpp"
#include "sluice/base/utf8.hpp"
#include "sluice/format/tfrecord_frames.hpp"
#include "sluice/io/parquet_files.hpp"
#include "sluice/output/output_format.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib::cli {
namespace {

using namespace std::string_view_literals;
// The ways to read a format that sluice has no reader for. FILE is replaced by the file's name.
constexpr std::string_view kByDuckdb = "`duckdb -c \"copy (from 'FILE') to 'out.csv'\"` converts it";
constexpr std::string_view kByOrc =
    "`python3 -c \"import pyarrow.csv as c, pyarrow.orc as o; c.write_csv(o.read_table('FILE'), 'out.csv')\"` converts "
    "it";
constexpr std::string_view kByFeather =
    "`python3 -c \"import pyarrow.feather as f; f.write_feather(f.read_table('FILE'), 'out.arrow', "
    "compression='uncompressed')\"` converts it";
constexpr std::string_view kByAvro = "`fastavro FILE > out.jsonl` (pip install fastavro) converts it";
constexpr std::string_view kBySql = "the plan sql(\"FILE\", \"select * from TABLE\") reads a table of it";
constexpr std::string_view kByHdf = "`h5dump FILE` prints it, and h5py reads it in Python";
constexpr std::string_view kByImage = "the plan list_files(\"FILE\") | map(decode_image(read_file(it))) reads it";
constexpr std::string_view kByWav = "the plan list_files(\"FILE\") | map(decode_wav(read_file(it))) reads it";
constexpr std::string_view kByMagick =
    "`convert FILE out.png` (ImageMagick) makes an image of it that decode_image reads";
constexpr std::string_view kByFfmpeg = "`ffmpeg -i FILE out.wav` makes audio of it that decode_wav reads";
constexpr std::string_view kByVideo = "`ffmpeg -i FILE out-%05d.png` makes images of it that decode_image reads";
constexpr std::string_view kByPdf = "`pdftotext FILE out.txt` extracts its text";
constexpr std::string_view kBy7z = "`7z x FILE` unpacks it";
constexpr std::string_view kByRar = "`unrar x FILE` unpacks it";
constexpr std::string_view kByAr = "`ar x FILE` unpacks it";
constexpr std::string_view kByCpio = "`cpio -id < FILE` unpacks it";
constexpr std::string_view kByCab = "`cabextract FILE` unpacks it";
constexpr std::string_view kByGzip = "`gzip -dc FILE` decompresses it";
constexpr std::string_view kByLzma = "`xz -dc --format=lzma FILE` decompresses it";
constexpr std::string_view kByLzip = "`lzip -dc FILE` decompresses it";
constexpr std::string_view kByLzop = "`lzop -dc FILE` decompresses it";
constexpr std::string_view kByLz4 = "`lz4 -dc FILE` decompresses it";
constexpr std::string_view kByBrotli = "`brotli -dc FILE` decompresses it";
constexpr std::string_view kByPickle = "Python's pickle.load reads it, if you trust its source";
constexpr std::string_view kByTable = "`ssconvert FILE out.csv` (Gnumeric) converts it";
constexpr std::string_view kByPython = "the Python package of this format reads it";
constexpr std::string_view kByResume = "the plan of its run continues from it, by sluice run 'PLAN' --resume FILE";
constexpr std::string_view kNoData = "";  // nothing to read it for
constexpr std::string_view kByHadoop = "`hadoop fs -text FILE` prints it";

/// A format that is known by bytes at one place, and that sluice has no reader for.
struct magic {
  std::string_view bytes;
  std::size_t at = 0;
  std::string_view what;
  std::string_view way_out;
  /// A text may begin like this: the file must also end with these bytes, or not be text.
  bool is_word = false;
  std::string_view tail = {};  ///< the last bytes
  std::size_t tail_at = 0;     ///< the number of bytes after `tail`
};

constexpr magic kMagics[] = {
    {"ORC"sv, 0, "an ORC file", kByOrc, true, "ORC"sv, 1},
    {"Obj\x01"sv, 0, "an Avro file", kByAvro},
    {"#ROSBAG"sv, 0, "a bag of ROS", "`rosbag info FILE` and rosbags in Python read it", true},
    {"FEA1"sv, 0, "a Feather file of version 1", kByFeather, true, "FEA1"sv},
    {"SQLite format 3\0"sv, 0, "an SQLite database", kBySql},
    {"DUCK"sv, 8, "a DuckDB database", "`duckdb FILE -c \"copy TABLE to 'out.csv'\"` converts a table of it", true},
    {"\x89HDF\r\n\x1a\n"sv, 0, "an HDF5 file", kByHdf},
    {"\x89HDF\r\n\x1a\n"sv, 512, "an HDF5 file", kByHdf},
    {"\x89HDF\r\n\x1a\n"sv, 1024, "an HDF5 file", kByHdf},
    {"\x89HDF\r\n\x1a\n"sv, 2048, "an HDF5 file", kByHdf},
    {"\x0e\x03\x13\x01"sv, 0, "an HDF4 file", kByHdf},
    {"CDF\x01"sv, 0, "a NetCDF file", "`ncdump FILE` prints it"},
    {"CDF\x02"sv, 0, "a NetCDF file", "`ncdump FILE` prints it"},
    {"CDF\x05"sv, 0, "a NetCDF file", "`ncdump FILE` prints it"},
    {"MATLAB 5.0 MAT-file"sv, 0, "a MATLAB file", "scipy.io.loadmat reads it in Python"},
    {"SIMPLE  ="sv, 0, "a FITS file", "astropy.io.fits reads it in Python"},
    {"SEQ\x04"sv, 0, "a Hadoop sequence file", kByHadoop},
    {"SEQ\x05"sv, 0, "a Hadoop sequence file", kByHadoop},
    {"SEQ\x06"sv, 0, "a Hadoop sequence file", kByHadoop},
    {"RCF\x01"sv, 0, "an RC file of Hive", kByHadoop},
    {"GGUF"sv, 0, "a GGUF model", kByPython, true},
    {"RDX2\n"sv, 0, "an R data file", "R's load() reads it"},
    {"RDX3\n"sv, 0, "an R data file", "R's load() reads it"},
    {"BAM\x01"sv, 0, "a BAM file", "`samtools view FILE` prints it"},
    {"BCF\x02"sv, 0, "a BCF file", "`bcftools view FILE` prints it"},
    {"DICM"sv, 128, "a DICOM image", kByPython},
    {"\x0a\x23\xd7\xce"sv, 0, "a RecordIO file of MXNet", kByPython},
    // Images. decode_image reads the first five.
    {"\xff\xd8\xff"sv, 0, "a JPEG image", kByImage},
    {"\x89PNG\r\n\x1a\n"sv, 0, "a PNG image", kByImage},
    {"GIF87a"sv, 0, "a GIF image", kByImage, true},
    {"GIF89a"sv, 0, "a GIF image", kByImage, true},
    {"WEBP"sv, 8, "a WebP image", kByImage, true},
    {"II*\0"sv, 0, "a TIFF image", kByMagick},
    {"MM\0*"sv, 0, "a TIFF image", kByMagick},
    {"II+\0"sv, 0, "a TIFF image", kByMagick},
    {"MM\0+"sv, 0, "a TIFF image", kByMagick},
    {"8BPS\0"sv, 0, "a Photoshop image", kByMagick},
    {"\x76\x2f\x31\x01"sv, 0, "an OpenEXR image", kByMagick},
    {"\0\0\0\x0cjP  \r\n\x87\n"sv, 0, "a JPEG 2000 image", kByMagick},
    {"\xff\x4f\xff\x51"sv, 0, "a JPEG 2000 image", kByMagick},
    {"\0\0\0\x0cJXL \r\n\x87\n"sv, 0, "a JPEG XL image", kByMagick},
    {"ftypavif"sv, 4, "an AVIF image", kByMagick},
    {"ftypheic"sv, 4, "a HEIF image", kByMagick},
    {"ftypheix"sv, 4, "a HEIF image", kByMagick},
    {"ftypmif1"sv, 4, "a HEIF image", kByMagick},
    {"qoif"sv, 0, "a QOI image", kByMagick, true},
    {"gimp xcf"sv, 0, "an XCF image", kByMagick, true},
    // Audio and video.
    {"WAVE"sv, 8, "a WAV file", kByWav, true},
    {"AVI "sv, 8, "an AVI video", kByVideo, true},
    {"ID3"sv, 0, "an MP3 file", kByFfmpeg, true},
    {"fLaC"sv, 0, "a FLAC file", kByFfmpeg, true},
    {"OggS"sv, 0, "an Ogg file", kByFfmpeg, true},
    {".snd"sv, 0, "an AU file", kByFfmpeg, true},
    {"AIFF"sv, 8, "an AIFF file", kByFfmpeg, true},
    {"AIFC"sv, 8, "an AIFF file", kByFfmpeg, true},
    {"MThd\0"sv, 0, "a MIDI file", kByFfmpeg},
    {"#!AMR"sv, 0, "an AMR file", kByFfmpeg, true},
    {"ftyp"sv, 4, "an MP4 file", kByVideo, true},
    {"\x1a\x45\xdf\xa3"sv, 0, "a Matroska or WebM video", kByVideo},
    {"\0\0\x01\xba"sv, 0, "an MPEG video", kByVideo},
    {"\0\0\x01\xb3"sv, 0, "an MPEG video", kByVideo},
    {"FLV\x01"sv, 0, "a Flash video", kByVideo},
    // Documents and programs.
    {"%PDF-"sv, 0, "a PDF document", kByPdf},
    {"%!PS-"sv, 0, "a PostScript document", "`ps2ascii FILE out.txt` extracts its text"},
    {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv, 0, "a Microsoft Office file", kByTable},
    {"{\\rtf"sv, 0, "an RTF document", "`soffice --convert-to txt FILE` extracts its text"},
    {"\x7f\x45LF"sv, 0, "an ELF program or library", kNoData},
    {"\0asm"sv, 0, "a WebAssembly program", kNoData},
    {"\xca\xfe\xba\xbe"sv, 0, "a Java class or a Mach-O program", kNoData},
    // Archives and compressions.
    {"7z\xbc\xaf\x27\x1c"sv, 0, "a 7z archive", kBy7z},
    {"Rar!\x1a\x07"sv, 0, "a RAR archive", kByRar},
    {"!<arch>\n"sv, 0, "an ar archive", kByAr},
    {"070701"sv, 0, "a cpio archive", kByCpio, true},
    {"070702"sv, 0, "a cpio archive", kByCpio, true},
    {"070707"sv, 0, "a cpio archive", kByCpio, true},
    {"MSCF\0\0\0\0"sv, 0, "a cabinet archive", kByCab},
    {"xar!"sv, 0, "a xar archive", "`xar -xf FILE` unpacks it", true},
    {"hsqs"sv, 0, "a SquashFS archive", "`unsquashfs FILE` unpacks it", true},
    {"\xed\xab\xee\xdb"sv, 0, "an RPM package", "`rpm2cpio FILE` unpacks it"},
    {"LZIP\x01"sv, 0, "compressed by lzip", kByLzip},
    {"\x89LZO\0\r\n\x1a\n"sv, 0, "compressed by lzop", kByLzop},
    {"\x02\x21\x4c\x18"sv, 0, "compressed in the legacy format of lz4", kByLz4},
    {"\x28\xb5\x2f\xfd"sv, 0, "compressed by zstd, and damaged near its beginning", "`zstd -t FILE` checks it"},
    {"\xfd"
     "7zXZ\0"sv,
     0, "compressed by xz, and damaged near its beginning", "`xz -t FILE` checks it"},
    {"\x04\x22\x4d\x18"sv, 0, "compressed by lz4, and damaged near its beginning", "`lz4 -t FILE` checks it"},
    {"\x1e{"sv, 0, "a sequence of JSON texts (RFC 7464)", "`tr -d '\\036' < FILE > out.jsonl` makes JSON lines of it"},
    {"\x37\xa4\x30\xec"sv, 0, "a dictionary of zstd", "`zstd -D FILE` uses it"},
    {"sluice\x04"sv, 0, "a checkpoint of sluice", kByResume},
    {"sluice\x05"sv, 0, "a checkpoint of sluice", kByResume},
    {"sluice file\x01"sv, 0, "a checkpoint of sluice", kByResume},
};

/// The formats whose few first bytes may also be those of a damaged file of another format: a known suffix wins.
constexpr magic kWeakMagics[] = {
    {"\x1f\x8b"sv, 0, "compressed by gzip, and damaged near its beginning", "`gzip -t FILE` checks it"},
    {"\x1f\x9d"sv, 0, "compressed by compress (.Z)", kByGzip},
    {"\x1f\xa0"sv, 0, "compressed by lzh", kByGzip},
    {"\x1f\x1e"sv, 0, "compressed by pack", kByGzip},
    {"\0\0\x01\0"sv, 0, "a Windows icon", kByMagick},
    {"\xff\xfb"sv, 0, "an MP3 file", kByFfmpeg},
    {"\xff\xf3"sv, 0, "an MP3 file", kByFfmpeg},
    {"\xff\xf2"sv, 0, "an MP3 file", kByFfmpeg},
    {"\xff\xf1"sv, 0, "an AAC file", kByFfmpeg},
    {"\xff\xf9"sv, 0, "an AAC file", kByFfmpeg},
    {"\xff\x0a"sv, 0, "a JPEG XL image", kByMagick},
    {"\x80\x02"sv, 0, "a Python pickle", kByPickle},
    {"\x80\x03"sv, 0, "a Python pickle", kByPickle},
    {"\x80\x04"sv, 0, "a Python pickle", kByPickle},
    {"\x80\x05"sv, 0, "a Python pickle", kByPickle},
    {"BM"sv, 0, "a BMP image", kByImage, true},
    {"P4"sv, 0, "a PBM image", kByMagick, true},
    {"P5"sv, 0, "a PGM image", kByMagick, true},
    {"P6"sv, 0, "a PPM image", kByMagick, true},
    {"MZ"sv, 0, "a Windows program", kNoData, true},
};

struct known_suffix {
  std::string_view suffix;
  std::string_view what;
  std::string_view way_out;
};
/// Names of files that sluice has no reader for.
constexpr known_suffix kSuffixes[] = {
    {".orc", "an ORC file", kByOrc},
    {".avro", "an Avro file", kByAvro},
    {".sqlite", "an SQLite database", kBySql},
    {".sqlite3", "an SQLite database", kBySql},
    {".h5", "an HDF5 file", kByHdf},
    {".hdf5", "an HDF5 file", kByHdf},
    {".br", "compressed by brotli", kByBrotli},
    {".lzma", "compressed by lzma", kByLzma},
    {".lz", "compressed by lzip", kByLzip},
    {".lzo", "compressed by lzop", kByLzop},
    {".Z", "compressed by compress", kByGzip},
    {".7z", "a 7z archive", kBy7z},
    {".rar", "a RAR archive", kByRar},
    {".pkl", "a Python pickle", kByPickle},
    {".pickle", "a Python pickle", kByPickle},
    {".pdf", "a PDF document", kByPdf},
    {".jpg", "a JPEG image", kByImage},
    {".jpeg", "a JPEG image", kByImage},
    {".png", "a PNG image", kByImage},
    {".gif", "a GIF image", kByImage},
    {".bmp", "a BMP image", kByImage},
    {".webp", "a WebP image", kByImage},
    {".tif", "a TIFF image", kByMagick},
    {".tiff", "a TIFF image", kByMagick},
    {".wav", "a WAV file", kByWav},
    {".mp3", "an MP3 file", kByFfmpeg},
    {".flac", "a FLAC file", kByFfmpeg},
    {".ogg", "an Ogg file", kByFfmpeg},
    {".mp4", "an MP4 file", kByVideo},
    {".xls", "an Excel workbook", kByTable},
};
/// Zip archives in which a format stores its parts.
constexpr known_suffix kZipSuffixes[] = {
    {".xlsx", "an Excel workbook", kByTable},
    {".ods", "an OpenDocument table", kByTable},
    {".docx", "a Word document", "`soffice --convert-to txt FILE` extracts its text"},
    {".odt", "an OpenDocument text", "`soffice --convert-to txt FILE` extracts its text"},
    {".pptx", "a PowerPoint document", "`soffice --convert-to pdf FILE` converts it"},
};

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t n = 0;
  for (std::size_t i = bytes.size(); i-- != 0;) n = n << 8 | static_cast<unsigned char>(bytes[i]);
  return n;
}

/// Arrow's magic word of a file with its padding, or the first message of a stream: a marker and a plausible length.
bool is_arrow(std::string_view head) {
  if (head.starts_with("ARROW1\0\0"sv)) return true;
  if (head.size() < 8 || !head.starts_with("\xff\xff\xff\xff"sv)) return false;
  const std::uint64_t bytes = little_endian(head.substr(4, 4));
  return bytes != 0 && bytes % 8 == 0 && bytes < (std::uint64_t{1} << 31);
}

bool is_zip_head(std::string_view head) { return head.starts_with("PK\x03\x04"sv) || head.starts_with("PK\x05\x06"sv); }

/// The first block header of a file of Riegeli.
constexpr std::string_view kRiegeliBeginning = "\x83\xaf\x70\xd1\x0d\x88\x4a\x3f\0\0\0\0\0\0\0\0"sv;

/// Returns the format by content that one of the readers reads; empty if none is recognized.
std::string_view readable_content(std::string_view head) {
  if (head.size() >= kTfrecordHeaderBytes && find_tfrecord({.bytes = head}, 0, 1) == 0) return "tfrecord";
  if (head.starts_with("\x93NUMPY"sv)) return "npy";
  if (head.starts_with(kRiegeliBeginning)) return "array_record";
  if (is_arrow(head)) return "arrow";
  if (is_zip_head(head)) return "zip";
  if (find_tar_entry({.bytes = head}, 0, 1) == 0) return "tar";
  return {};
}

/// The index of a folder of MDS shards, which is the file to name in place of the folder.
bool is_mds_index(const file_sample& file) {
  const bool is_named = file.name == "index.json" || file.name.ends_with("/index.json");
  return is_named && file.head.find("\"column_encodings\"") != file.head.npos;
}

/// A text may begin with the magic word of Parquet, and is one unless it also ends with it.
bool is_parquet(const file_sample& file) {
  if (!file.head.starts_with("PAR1"sv) && !file.head.starts_with("PARE"sv)) return false;
  return !is_text_head(file.head, file.is_all) || file.tail.ends_with("PAR1"sv) || file.tail.ends_with("PARE"sv);
}

/// The header of an .lzma file: properties below 225, a dictionary of 2^n or 2^n + 2^(n-1) bytes, and a size that is
/// plausible or unknown.
bool is_lzma(std::string_view head) {
  if (head.size() < 13 || static_cast<unsigned char>(head[0]) >= 225) return false;
  const std::uint64_t dictionary = little_endian(head.substr(1, 4)), size = little_endian(head.substr(5, 8));
  const auto is_power = [](std::uint64_t n) { return n != 0 && (n & (n - 1)) == 0; };
  if (dictionary < 4096 || !(is_power(dictionary) || is_power(dictionary / 3))) return false;
  return size == ~std::uint64_t{0} || (size != 0 && size < (std::uint64_t{1} << 38));
}

/// The header of a member of a cpio archive in ASCII: numbers in fields of one width.
bool is_text_cpio(std::string_view head) {
  const auto digits = [head](std::size_t from, std::size_t n, int base) {
    if (head.size() < from + n) return false;
    return std::ranges::all_of(head.substr(from, n), [base](char c) {
      return base == 8 ? c >= '0' && c <= '7' : absl::ascii_isxdigit(static_cast<unsigned char>(c));
    });
  };
  if (head.starts_with("070707"sv)) return digits(6, 70, 8);
  return (head.starts_with("070701"sv) || head.starts_with("070702"sv)) && digits(6, 104, 16);
}

bool is_riff(std::string_view head) {
  return head.starts_with("RIFF"sv) || head.starts_with("RIFX"sv) || head.starts_with("RF64"sv) ||
         head.starts_with("BW64"sv) || head.starts_with("FORM"sv);
}

bool fits(const magic& m, const file_sample& file) {
  const std::string_view head = file.head;
  if (head.size() < m.at + m.bytes.size() || head.substr(m.at, m.bytes.size()) != m.bytes) return false;
  if (m.at == 8 && m.bytes != "DUCK" && !is_riff(head)) return false;
  if (!m.is_word || !is_text_head(head, file.is_all) || has_controls(head)) return true;
  const std::size_t tail_bytes = m.tail.size() + m.tail_at;  // not those of the magic word itself
  if (m.tail.empty() || file.tail.size() < tail_bytes || head.size() <= m.bytes.size() + tail_bytes) return false;
  return file.tail.substr(file.tail.size() - m.tail_at - m.tail.size(), m.tail.size()) == m.tail;
}

/// The size of a safetensors header, and the JSON that it begins with.
bool is_safetensors(std::string_view head) {
  return head.size() >= 10 && head[8] == '{' && (head[9] == '"' || head[9] == '}' || head[9] == ' ') &&
         little_endian(head.substr(0, 8)) < (std::uint64_t{1} << 32);
}

/// A path as the shell needs it.
std::string in_shell(std::string_view path) {
  constexpr std::string_view kPlainMarks = "_-./:@%+=,";
  const auto is_plain = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kPlainMarks.find(c) != kPlainMarks.npos;
  };
  if (std::ranges::all_of(path, is_plain)) return std::string(path);
  return absl::StrCat("'", absl::StrReplaceAll(std::string(path), {{"'", "'\\''"}}), "'");
}

/// The name that a command for this file contains.
std::string name_in_command(const file_sample& file) {
  return file.name == "-" ? std::string("FILE") : detail::redacted(file.name);
}

/// "is a Parquet file, which sluice does not read: `duckdb …` converts it".
status refused(const file_sample& file, std::string_view what, std::string_view way_out) {
  std::string message = absl::StrCat("is ", std::string(what), file.is_packed ? ", compressed" : "");
  if (way_out == kNoData) return unimplemented_error(absl::StrCat(message, ", which sluice does not read"));
  const std::string name = name_in_command(file);
  std::string words(way_out);
  if (way_out.starts_with("the plan ")) {
    if (way_out == kBySql && !find_op("sql"))
      return unimplemented_error(absl::StrCat(message, ", which this build of sluice does not read"));
    words = absl::StrReplaceAll(words, {{"\"FILE\"", detail::in_quotes(name)}, {"FILE", in_shell(name)}});
    return unimplemented_error(absl::StrCat(message, ": ", words));
  }
  const bool has_quotes = words.find("'FILE'") != words.npos;
  words = absl::StrReplaceAll(words, {{"FILE", has_quotes ? name : in_shell(name)}});
  return unimplemented_error(absl::StrCat(message, ", which sluice does not read: ", words));
}

/// "is a Parquet file, and this build of sluice lacks …: `duckdb …` converts it".
status refused_by_build(const file_sample& file, std::string_view what, std::string_view lack,
                        std::string_view way_out) {
  const std::string words = absl::StrReplaceAll(std::string(way_out), {{"FILE", name_in_command(file)}});
  return unimplemented_error(
      absl::StrCat("is ", std::string(what), ", and this build of sluice ", std::string(lack), ": ", words));
}

status refused_encoding(const file_sample& file, std::string_view encoding) {
  return unimplemented_error(absl::StrCat("is a text in ", std::string(encoding),
                                          ", and texts are read in UTF-8: `iconv -f ", std::string(encoding),
                                          " -t UTF-8 ", in_shell(name_in_command(file)), " > out.txt` converts it"));
}

/// The suffix of a converted text.
std::string_view suffix_of_text(std::string_view name) {
  const std::string_view kind = kind_of_name(name);
  return kind == "csv" ? ".csv" : kind == "tsv" ? ".tsv" : ".txt";
}

status refused_bytes(const file_sample& file) {
  const std::string_view head = file.head.substr(0, kTextBytes);
  std::string found;
  if (const std::size_t nul = head.find('\0'); nul != head.npos) {
    found = absl::StrCat("byte ", nul, " is NUL, so that it is no text");
  } else {
    std::size_t at = 0;
    for (std::size_t n = 1; at < head.size() && n != 0; at += n) n = utf8_length(head.substr(at));
    // Windows-1252 has letters and quotes where Latin-1 has control characters.
    const bool is_windows = std::ranges::any_of(head, [](char c) {
      const auto byte = static_cast<unsigned char>(c);
      return byte >= 0x80 && byte < 0xa0;
    });
    found = absl::StrCat("byte ", at, " is not UTF-8; a text in ", is_windows ? "Windows-1252" : "Latin-1",
                         " is converted by `iconv -f ", is_windows ? "WINDOWS-1252" : "LATIN1", " -t UTF-8 ",
                         in_shell(name_in_command(file)), " > out", std::string(suffix_of_text(file.name)),
                         "` (`iconv -l` lists others)");
  }
  return invalid_argument_error(absl::StrCat("is in no format that sluice knows: ", found,
                                             "; --from FORMAT or a plan reads it in the format that you name"));
}

/// Returns true if the file's name ends with the suffix, in any case for suffixes of small letters.
bool has_suffix(std::string_view name, std::string_view suffix) {
  if (suffix == ".Z") return name.ends_with(suffix);
  return absl::EndsWithIgnoreCase(std::string(name), std::string(suffix));
}

/// Refuses a file whose content is known to be in another format. `weak`: also the formats with short magic numbers.
status check_content(const file_sample& file, bool weak) {
  for (const magic& m : kMagics)
    if (fits(m, file)) return refused(file, m.what, m.way_out);
  if (is_text_cpio(file.head)) return refused(file, "a cpio archive", kByCpio);
  if (is_lzma(file.head) && !is_text_head(file.head, file.is_all)) return refused(file, "compressed by lzma", kByLzma);
  if (!weak) return {};
  for (const magic& m : kWeakMagics)
    if (fits(m, file)) return refused(file, m.what, m.way_out);
  if (is_safetensors(file.head)) return refused(file, "a safetensors model", kByPython);
  return {};
}

bool reads_text(std::string_view format) {
  return format == "csv" || format == "tsv" || format == "jsonl" || format == "lines";
}

/// Refuses JSON lines in a file named .csv, a table in a file named .jsonl, and either in one that is named as a file of
/// records.
status check_text_of_name(const file_sample& file, std::string_view by_name) {
  if (!reads_text(by_name) && !is_text_head(file.head, file.is_all)) return {};
  const std::string_view found = kind_of_text(file.head, file.is_all);
  if (found == "lines" || (reads_text(by_name) && (found == "jsonl") == (by_name == "jsonl"))) return {};
  const std::string words = absl::StrCat(found == "csv" ? "CSV" : "JSON lines", ": --from ", std::string(found));
  return invalid_argument_error(
      absl::StrCat("is named .", std::string(by_name), ", and contains ", words, " reads it"));
}

}  // namespace

std::string_view kind_of_name(std::string_view name) {
  const std::string_view path = without_query(name);
  if (path.ends_with(".tgz")) return "tar";
  const std::string_view data = name_of_data(name);
  if (data.ends_with(".tar")) return "tar";
  if (data.ends_with(".parquet")) return "parquet";
  if (data.ends_with(".zip")) return "zip";
  if (data.ends_with(".npz")) return "npz";
  if (path.ends_with(".array_record") || path.ends_with(".arrayrecord")) return "array_record";
  if (path.ends_with(".bagz") || path.ends_with(".bag")) return "bagz";
  if (data.ends_with(".tsv") || data.ends_with(".tab")) return "tsv";
  switch (format_of_path(std::string(data)).format) {
    case output_format::csv: return "csv";
    case output_format::jsonl: return "jsonl";
    case output_format::numpy: return "npy";
    case output_format::arrow: return "arrow";
    case output_format::tfrecords: return "tfrecord";
    case output_format::text_lines: return "lines";
    default: break;
  }
  return data.substr(data.rfind('/') + 1).find(".tfrecord") != data.npos ? "tfrecord" : "";
}

result<std::string_view> kind_of(const file_sample& file) {
  if (file.head.starts_with("version https://git-lfs.github.com/spec/"sv))
    return refused(file, "a pointer of Git LFS", "`git lfs pull` fetches the file");
  const std::string_view by_name = kind_of_name(file.name), data = name_of_data(file.name);
  // A Bagz file begins with its first record, which may be anything. Robots record other files named .bag.
  if (by_name == "bagz" && !file.head.starts_with("#ROSBAG"sv)) return by_name;
  if (const std::string_view by_content = readable_content(file.head); !by_content.empty()) {
    if (by_content == "zip")
      for (const known_suffix& s : kZipSuffixes)
        if (has_suffix(data, s.suffix)) return refused(file, s.what, s.way_out);
    if (by_content == "zip" && by_name == "npz") return by_name;
    return by_content;
  }
  if (is_mds_index(file)) return "mds"sv;
  if (is_parquet(file)) {
    if (has_parquet()) return "parquet"sv;
    return refused_by_build(file, "a Parquet file", "lacks Arrow C++ (./dev deps formats)", kByDuckdb);
  }
  if (status why = check_content(file, by_name.empty()); !why.ok()) return why;
  if (!by_name.empty() && by_name != "lines")
    if (const markup_page page = markup_page_of(file.head); !page.what.empty())
      return refused(file, page.what, page.way_out);
  if (by_name == "csv")
    if (const std::string_view mark = excel_delimiter(file.head); !mark.empty())
      return refused(file, absl::StrCat("a table whose first line is Excel's sep=", std::string(mark)),
                     absl::StrCat("`tail -n +2 FILE | sluice head --from csv --delimiter '", std::string(mark),
                                  "' -` leaves that line out"));
  if (by_name.empty() || reads_text(by_name)) {
    const std::string_view encoding = wide_encoding(file.head);
    if (!encoding.empty()) return refused_encoding(file, encoding);
  }
  if (!by_name.empty() && by_name != "lines")
    if (status why = check_text_of_name(file, by_name); !why.ok()) return why;
  if (by_name == "parquet" && !has_parquet())
    return refused_by_build(file, "named as a Parquet file", "lacks Arrow C++ (./dev deps formats)", kByDuckdb);
  // A table in another encoding is text throughout; bytes that a field may have include control characters.
  if ((by_name == "csv" || by_name == "tsv") && !has_controls(file.head) && !is_text_head(file.head, file.is_all))
    return refused_bytes(file);
  if (!by_name.empty() && by_name != "lines") return by_name;
  if (by_name.empty())
    for (const known_suffix& s : kSuffixes)
      if (has_suffix(data, s.suffix)) return refused(file, s.what, s.way_out);
  // Lines have no structure that could be damaged: a name in .txt makes no text of binary data.
  if (!is_text_head(file.head, file.is_all)) return refused_bytes(file);
  return by_name.empty() ? kind_of_text(file.head, file.is_all) : by_name;
}

}  // namespace sluice::lib::cli
