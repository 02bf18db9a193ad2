// SPDX-License-Identifier: Apache-2.0
#include "io/stores/digest.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/sha.h>

#include <memory>

namespace sluice::lib::detail {
namespace {

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

struct key_deleter {
  void operator()(EVP_PKEY* k) const noexcept { EVP_PKEY_free(k); }
};
struct digest_deleter {
  void operator()(EVP_MD_CTX* c) const noexcept { EVP_MD_CTX_free(c); }
};

}  // namespace

std::string md5(std::string_view bytes) {
  std::string out(EVP_MAX_MD_SIZE, '\0');
  unsigned int n = 0;
  const bool done =
      EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(out.data()), &n, EVP_md5(), nullptr) == 1;
  ERR_clear_error();
  out.resize(done ? n : 0);
  return out;
}

std::string sha256(std::string_view bytes) {
  std::string out(SHA256_DIGEST_LENGTH, '\0');
  SHA256(bytes_of(bytes), bytes.size(), reinterpret_cast<unsigned char*>(out.data()));
  return out;
}

std::string hmac_sha256(std::string_view key, std::string_view bytes) {
  std::string out(SHA256_DIGEST_LENGTH, '\0');
  unsigned int n = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes_of(bytes), bytes.size(),
       reinterpret_cast<unsigned char*>(out.data()), &n);
  return out;
}

std::string hexadecimal(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += kDigits[byte / 16];
    out += kDigits[byte % 16];
  }
  return out;
}

std::string base64(std::string_view bytes) {
  std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int n =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()), bytes_of(bytes), static_cast<int>(bytes.size()));
  out.resize(static_cast<std::size_t>(n));
  return out;
}

std::string base64_url(std::string_view bytes) {
  std::string out = base64(bytes);
  while (!out.empty() && out.back() == '=') out.pop_back();
  for (char& c : out) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return out;
}

result<std::string> from_base64(std::string_view text) {
  std::string out(text.size() / 4 * 3 + 1, '\0');
  const int n = text.size() % 4 != 0 ? -1
                                     : EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()), bytes_of(text),
                                                       static_cast<int>(text.size()));
  if (n < 0) return invalid_argument_error("is no base64");
  std::size_t padding = 0;
  while (padding < 2 && text.size() > padding && text[text.size() - 1 - padding] == '=') ++padding;
  out.resize(static_cast<std::size_t>(n) - padding);
  return out;
}

result<std::string> rs256(const std::string& key, std::string_view text) {
  ERR_clear_error();
  BIO* in = BIO_new_mem_buf(key.data(), static_cast<int>(key.size()));
  auto no_password = [](char*, int, int, void*) { return 0; };
  std::unique_ptr<EVP_PKEY, key_deleter> pair(PEM_read_bio_PrivateKey(in, nullptr, no_password, nullptr));
  BIO_free(in);
  std::unique_ptr<EVP_MD_CTX, digest_deleter> signing(EVP_MD_CTX_new());
  std::size_t n = 0;
  const bool begun = pair && EVP_PKEY_is_a(pair.get(), "RSA") && signing &&
                     EVP_DigestSignInit(signing.get(), nullptr, EVP_sha256(), nullptr, pair.get()) == 1 &&
                     EVP_DigestSign(signing.get(), nullptr, &n, bytes_of(text), text.size()) == 1;
  std::string out(n, '\0');
  const bool done = begun && EVP_DigestSign(signing.get(), reinterpret_cast<unsigned char*>(out.data()), &n,
                                            bytes_of(text), text.size()) == 1;
  ERR_clear_error();
  if (!done) return invalid_argument_error("the private key is no RSA key in PEM");
  out.resize(n);
  return out;
}

}  // namespace sluice::lib::detail
