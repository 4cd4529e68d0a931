// The rules of all leaves of a field, prepared so that the time for a value hardly depends on their
// number. Used by filter only.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "core/filter/filter_rules.h"
#include "core/filter/number_index.h"
#include "core/filter/text_index.h"

namespace postrider::filter {

/// An immutable value. Any thread.
class ScalarIndex {
 public:
  ScalarIndex() = default;
  /// A leaf accepts a value if one of its rules matches. At most leaves_max leaves.
  explicit ScalarIndex(const std::vector<LeafRules>& leaves);

  /// The leaves that accept the value. Those in `known` may be missing.
  [[nodiscard]] LeafSet find(const Scalar& value, LeafSet known) const;

  /// See Filter::weight.
  [[nodiscard]] std::size_t weight() const;

 private:
  static constexpr std::array<std::string_view, 3> literal_texts = {"true", "false", "null"};

  NumberIndex numbers_;
  TextIndex texts_;
  std::array<LeafSet, literal_texts.size()> literals_{};
};

}  // namespace postrider::filter
