// Several wildcards that are matched with a text in a single pass. The time is proportional to the
// length of the text for any text and any wildcards, times one step per 64 bytes of wildcards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/wildcard.h"

namespace postrider {

/// An immutable value. Any thread.
class WildcardSet {
 public:
  static constexpr std::size_t size_max = 64;

  WildcardSet() = default;
  /// At most size_max wildcards.
  explicit WildcardSet(const std::vector<Wildcard>& wildcards);

  /// Bit i is set if wildcard i matches the text.
  [[nodiscard]] std::uint64_t match(std::string_view text) const;

  [[nodiscard]] bool is_empty() const { return finals_.empty(); }
  /// The steps per byte of a text.
  [[nodiscard]] std::size_t words() const { return words_; }

 private:
  // A nondeterministic automaton. A wildcard with n characters has n + 1 states: state i is active
  // if the text so far matches its first i characters. Each state is a bit.
  using Word = std::uint64_t;

  void add_transition(unsigned char byte, std::size_t to);
  [[nodiscard]] bool advance(std::vector<Word>& states, unsigned char byte) const;
  [[nodiscard]] bool is_active(const std::vector<Word>& states, std::size_t state) const;

  std::size_t words_ = 0;
  std::vector<Word> start_;              // The first state of each wildcard.
  std::vector<Word> loops_;              // Stay active for every byte: those at a star.
  std::vector<std::uint16_t> class_of_;  // Of each byte. Class 0: in no wildcard.
  std::vector<Word> entered_;            // For each class, the states that such a byte enters.
  std::vector<std::size_t> finals_;      // The last state of each wildcard.
};

}  // namespace postrider
