// A substitute for SHA-256 in tests that do not link OpenSSL: 32 bytes that depend on every bit of
// the input. Not cryptographic.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace postrider::test {

[[nodiscard]] inline std::string test_digest(std::string_view text) {
  std::string digest;
  for (std::uint64_t part = 0; part < 4; ++part) {
    std::uint64_t hash = 14695981039346656037ull + part;
    for (const char byte : text) {
      hash = (hash ^ static_cast<unsigned char>(byte)) * 1099511628211ull;
    }
    for (int shift = 0; shift < 64; shift += 8) {
      digest.push_back(static_cast<char>(hash >> shift));
    }
  }
  return digest;
}

}  // namespace postrider::test
