// SPDX-License-Identifier: Apache-2.0
// The formats that sluice has no reader for, by their first bytes and their suffixes, and the way to read each.
#pragma once

#include <cstddef>
#include <string_view>

namespace sluice::lib::cli {

using std::string_view_literals::operator""sv;

// The ways to read a format that sluice has no reader for. FILE is replaced by the file's name.
inline constexpr std::string_view kByDuckdb = "`duckdb -c \"copy (from 'FILE') to 'out.csv'\"` converts it";
inline constexpr std::string_view kByOrc =
    "`python3 -c \"import pyarrow.csv as c, pyarrow.orc as o; c.write_csv(o.read_table('FILE'), 'out.csv')\"` converts "
    "it";
inline constexpr std::string_view kByFeather =
    "`python3 -c \"import pyarrow.feather as f; f.write_feather(f.read_table('FILE'), 'out.arrow', "
    "compression='uncompressed')\"` converts it";
inline constexpr std::string_view kByAvro = "`fastavro FILE > out.jsonl` (pip install fastavro) converts it";
inline constexpr std::string_view kBySql = "the plan sql(\"FILE\", \"select * from TABLE\") reads a table of it";
inline constexpr std::string_view kByHdf = "`h5dump FILE` prints it, and h5py reads it in Python";
inline constexpr std::string_view kByImage =
    "the plan list_files(\"FILE\") | map(decode_image(read_file(it))) reads it";
inline constexpr std::string_view kByWav = "the plan list_files(\"FILE\") | map(decode_wav(read_file(it))) reads it";
inline constexpr std::string_view kByMagick =
    "`convert FILE out.png` (ImageMagick) makes an image of it that decode_image reads";
inline constexpr std::string_view kByFfmpeg = "`ffmpeg -i FILE out.wav` makes audio of it that decode_wav reads";
inline constexpr std::string_view kByVideo = "`ffmpeg -i FILE out-%05d.png` makes images of it that decode_image reads";
inline constexpr std::string_view kByPdf = "`pdftotext FILE out.txt` extracts its text";
inline constexpr std::string_view kBy7z = "`7z x FILE` unpacks it";
inline constexpr std::string_view kByRar = "`unrar x FILE` unpacks it";
inline constexpr std::string_view kByAr = "`ar x FILE` unpacks it";
inline constexpr std::string_view kByCpio = "`cpio -id < FILE` unpacks it";
inline constexpr std::string_view kByCab = "`cabextract FILE` unpacks it";
inline constexpr std::string_view kByGzip = "`gzip -dc FILE` decompresses it";
inline constexpr std::string_view kByLzma = "`xz -dc --format=lzma FILE` decompresses it";
inline constexpr std::string_view kByLzip = "`lzip -dc FILE` decompresses it";
inline constexpr std::string_view kByLzop = "`lzop -dc FILE` decompresses it";
inline constexpr std::string_view kByLz4 = "`lz4 -dc FILE` decompresses it";
inline constexpr std::string_view kByBrotli = "`brotli -dc FILE` decompresses it";
inline constexpr std::string_view kByPickle = "Python's pickle.load reads it, if you trust its source";
inline constexpr std::string_view kByTable = "`ssconvert FILE out.csv` (Gnumeric) converts it";
inline constexpr std::string_view kByPython = "the Python package of this format reads it";
inline constexpr std::string_view kByResume =
    "the plan of its run continues from it, by sluice run 'PLAN' --resume FILE";
inline constexpr std::string_view kNoData = "";  // nothing to read it for
inline constexpr std::string_view kByHadoop = "`hadoop fs -text FILE` prints it";

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

inline constexpr magic kMagics[] = {
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
inline constexpr magic kWeakMagics[] = {
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
inline constexpr known_suffix kSuffixes[] = {
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
inline constexpr known_suffix kZipSuffixes[] = {
    {".xlsx", "an Excel workbook", kByTable},
    {".ods", "an OpenDocument table", kByTable},
    {".docx", "a Word document", "`soffice --convert-to txt FILE` extracts its text"},
    {".odt", "an OpenDocument text", "`soffice --convert-to txt FILE` extracts its text"},
    {".pptx", "a PowerPoint document", "`soffice --convert-to pdf FILE` converts it"},
};

}  // namespace sluice::lib::cli
