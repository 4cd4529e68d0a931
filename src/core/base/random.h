// A small seeded random number generator. The same seed gives the same numbers; the simulation
// depends on it. Not for secrets: those come from adapters/openssl.
#pragma once

#include <cstdint>

namespace postrider {

/// One step of SplitMix64: advances `state` and returns 64 well-mixed bits.
[[nodiscard]] constexpr std::uint64_t splitmix64(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

class SplitMix64 {
 public:
  explicit constexpr SplitMix64(std::uint64_t seed) : state_(seed) {}

  [[nodiscard]] constexpr std::uint64_t next() { return splitmix64(state_); }

  /// Uniform in [0, 1).
  [[nodiscard]] constexpr double draw() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  /// Uniform in [0, bound). The modulo bias is below 2^-32 for bounds up to 2^32.
  [[nodiscard]] constexpr std::uint64_t below(std::uint64_t bound) { return next() % bound; }

 private:
  std::uint64_t state_;
};

}  // namespace postrider
