// SPDX-License-Identifier: Apache-2.0
// The formats that encode each element separately: JSON lines, raw texts, lines, records, rows of CSV, tf.Examples.
#include <utility>

#include "format/csv/csv_writer.hpp"
#include "format/example/example_elements.hpp"
#include "output/encoders/element_encoder.hpp"
#include "sluice/format/tfrecord_frames.hpp"

namespace sluice::lib {
namespace {

/// `append_one(type, element, bytes)` appends the bytes of one element.
template <class F> class each_encoder final : public element_encoder {
 public:
  each_encoder(const element_type& type, F append_one) : type_(type), append_one_(std::move(append_one)) {}
  status append(const char* elements, std::size_t n, encoded& to) override {
    for (std::size_t i = 0; i != n; ++i) {
      append_one_(type_, elements + i * type_.size, to.bytes);
      to.ends.push_back(to.bytes.size());
    }
    return {};
  }

 private:
  const element_type& type_;
  F append_one_;
};
template <class F> std::unique_ptr<element_encoder> each(const element_type& type, F append_one) {
  return std::make_unique<each_encoder<F>>(type, std::move(append_one));
}

class lines_encoder final : public element_encoder {
 public:
  explicit lines_encoder(const element_type& type) : type_(type) {}
  status append(const char* elements, std::size_t n, encoded& to) override {
    for (std::size_t i = 0; i != n; ++i) {
      const std::string_view text = type_.text(elements + i * type_.size);
      if (text.find('\n') != text.npos)
        return invalid_argument_error(
            "a text with a line end in it is no line, and would be read back as two: the format raw writes its bytes "
            "as "
            "they are, jsonl as a text in quotes");
      to.bytes += text;
      to.bytes += '\n';
      to.ends.push_back(to.bytes.size());
    }
    return {};
  }

 private:
  const element_type& type_;
};

class csv_encoder final : public element_encoder {
 public:
  csv_encoder(const element_type& type, csv_writer writer) : size_(type.size), writer_(std::move(writer)) {}
  status begin(encoded& to) override {
    writer_.append_header(to.bytes);
    return {};
  }
  status append(const char* elements, std::size_t n, encoded& to) override {
    for (std::size_t i = 0; i != n; ++i) {
      writer_.append(elements + i * size_, to.bytes);
      to.ends.push_back(to.bytes.size());
    }
    return {};
  }

 private:
  const std::size_t size_;
  const csv_writer writer_;
};

class example_encoder final : public element_encoder {
 public:
  example_encoder(const element_type& type, example_elements examples)
      : size_(type.size), examples_(std::move(examples)) {}
  status append(const char* elements, std::size_t n, encoded& to) override {
    for (std::size_t i = 0; i != n; ++i) {
      auto bytes = examples_.bytes_of(elements + i * size_);
      if (!bytes.ok()) return bytes.why();
      append_tfrecord(to.bytes, *bytes);
      to.ends.push_back(to.bytes.size());
    }
    return {};
  }

 private:
  const std::size_t size_;
  example_elements examples_;
};

}  // namespace

std::unique_ptr<element_encoder> make_jsonl_encoder(const element_type& type) {
  return each(type, [](const element_type& t, const char* element, std::string& bytes) {
    print(t, element, bytes);
    bytes += '\n';
  });
}

std::unique_ptr<element_encoder> make_raw_encoder(const element_type& type) {
  return each(type, [](const element_type& t, const char* element, std::string& bytes) { bytes += t.text(element); });
}

std::unique_ptr<element_encoder> make_lines_encoder(const element_type& type) {
  return std::make_unique<lines_encoder>(type);
}

std::unique_ptr<element_encoder> make_tfrecord_encoder(const element_type& type) {
  return each(type, [](const element_type& t, const char* element, std::string& bytes) {
    append_tfrecord(bytes, t.text(element));
  });
}

result<std::unique_ptr<element_encoder>> make_csv_encoder(const element_type& type) {
  auto writer = csv_writer::of(type);
  if (!writer.ok()) return writer.why();
  return std::unique_ptr<element_encoder>(std::make_unique<csv_encoder>(type, *std::move(writer)));
}

result<std::unique_ptr<element_encoder>> make_example_encoder(const element_type& type) {
  auto examples = example_elements::of(type);
  if (!examples.ok()) return examples.why();
  return std::unique_ptr<element_encoder>(std::make_unique<example_encoder>(type, *std::move(examples)));
}

}  // namespace sluice::lib
