#include "client/machine.h"

#include <array>
#include <cstring>

#include <fmt/format.h>
#include <openssl/rand.h>

namespace postrider::client {
namespace {

using Bytes = std::array<unsigned char, 16>;

Result<Bytes> random_bytes() {
  Bytes bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    return fail(Errc::unavailable, "The system has no random numbers.");
  }
  return bytes;
}

}  // namespace

MonoTime mono_now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return MonoTime{std::chrono::duration_cast<Micros>(since)};
}

WallTime wall_now() {
  return WallTime{std::chrono::floor<Millis>(std::chrono::system_clock::now().time_since_epoch())};
}

Result<std::string> random_name() {
  POSTRIDER_TRY(const Bytes bytes, random_bytes());
  std::string name;
  for (const unsigned char byte : bytes) {
    name += fmt::format("{:02x}", byte);
  }
  return name;
}

Result<std::uint64_t> random_seed() {
  POSTRIDER_TRY(const Bytes bytes, random_bytes());
  std::uint64_t seed = 0;
  std::memcpy(&seed, bytes.data(), sizeof seed);
  return seed;
}

}  // namespace postrider::client
