#include "core/filter/scalar_index.h"

#include <algorithm>

#include "core/base/assert.h"

namespace postrider::filter {

ScalarIndex::ScalarIndex(const std::vector<LeafRules>& leaves) : numbers_(leaves), texts_(leaves) {
  POSTRIDER_ASSERT(leaves.size() <= leaves_max);
  for (std::size_t index = 0; index < literal_texts.size(); ++index) {
    const Scalar literal = Scalar::from_json(literal_texts[index]);
    for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
      const bool accepts = std::ranges::any_of(
          leaves[leaf], [&](const Rule& rule) { return matches(rule, literal); });
      literals_[index] |= accepts ? leaf_bit(leaf) : 0;
    }
  }
}

LeafSet ScalarIndex::find(const Scalar& value, LeafSet known) const {
  switch (value.kind()) {
    case Scalar::Kind::string:
      return texts_.find(value.text(), known);
    case Scalar::Kind::number:
      return numbers_.find(value.text());
    case Scalar::Kind::literal:
      break;
  }
  const auto* const found = std::ranges::find(literal_texts, value.text());
  return found == literal_texts.end()
             ? LeafSet{0}  // Only in a text that is not valid JSON.
             : literals_[static_cast<std::size_t>(found - literal_texts.begin())];
}

std::size_t ScalarIndex::weight() const {
  // Measured with the shortest strings, which have the most tests per byte.
  constexpr std::size_t tests_per_unit = 4;
  constexpr std::size_t steps_per_unit = 4;
  return texts_.test_count() / tests_per_unit + texts_.wildcard_steps() / steps_per_unit;
}

}  // namespace postrider::filter
