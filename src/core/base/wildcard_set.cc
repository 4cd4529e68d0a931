#include "core/base/wildcard_set.h"

#include <algorithm>

#include "core/base/assert.h"

namespace postrider {
namespace {

constexpr std::size_t word_bits = 64;
constexpr std::size_t byte_values = 256;

void set_bit(std::vector<std::uint64_t>& words, std::size_t bit) {
  words[bit / word_bits] |= std::uint64_t{1} << (bit % word_bits);
}

std::size_t states_of(const Wildcard& wildcard) {
  std::size_t states = 1;
  for (const std::string& part : wildcard.parts()) {
    states += part.size();
  }
  return states;
}

}  // namespace

WildcardSet::WildcardSet(const std::vector<Wildcard>& wildcards) {
  POSTRIDER_ASSERT(wildcards.size() <= size_max);
  std::size_t states = 0;
  for (const Wildcard& wildcard : wildcards) {
    states += states_of(wildcard);
  }
  words_ = (states + word_bits - 1) / word_bits;
  start_.resize(words_);
  loops_.resize(words_);
  entered_.resize(words_);
  class_of_.resize(wildcards.empty() ? 0 : byte_values);
  std::size_t state = 0;
  for (const Wildcard& wildcard : wildcards) {
    set_bit(start_, state);
    bool is_first = true;
    for (const std::string& part : wildcard.parts()) {
      if (!is_first) {
        set_bit(loops_, state);
      }
      is_first = false;
      for (const char letter : part) {
        add_transition(static_cast<unsigned char>(letter), ++state);
      }
    }
    finals_.push_back(state++);
  }
}

void WildcardSet::add_transition(unsigned char byte, std::size_t to) {
  if (class_of_[byte] == 0) {
    class_of_[byte] = static_cast<std::uint16_t>(entered_.size() / words_);
    entered_.resize(entered_.size() + words_);
  }
  set_bit(entered_, class_of_[byte] * words_ * word_bits + to);
}

std::uint64_t WildcardSet::match(std::string_view text) const {
  if (is_empty()) {
    return 0;
  }
  std::vector<Word> states = start_;
  for (const char letter : text) {
    if (!advance(states, static_cast<unsigned char>(letter))) {
      break;
    }
  }
  std::uint64_t matched = 0;
  for (std::size_t index = 0; index < finals_.size(); ++index) {
    matched |= std::uint64_t{is_active(states, finals_[index])} << index;
  }
  return matched;
}

/// Returns false if no state is active any more. A shifted bit never enters the first state of the
/// next wildcard, because no byte enters a first state.
bool WildcardSet::advance(std::vector<Word>& states, unsigned char byte) const {
  const Word* const entered = entered_.data() + class_of_[byte] * words_;
  const Word* const loops = loops_.data();
  Word* const active = states.data();
  Word carry = 0;
  Word any = 0;
  for (std::size_t index = 0; index < words_; ++index) {
    const Word before = active[index];
    active[index] = (((before << 1) | carry) & entered[index]) | (before & loops[index]);
    any |= active[index];
    carry = before >> (word_bits - 1);
  }
  return any != 0;
}

bool WildcardSet::is_active(const std::vector<Word>& states, std::size_t state) const {
  return (states[state / word_bits] >> (state % word_bits) & 1) != 0;
}

}  // namespace postrider
