// A text that two JSON values have in common exactly if JSON Schema calls them equal: the order of
// members does not matter, and numbers are compared by value.
#pragma once

#include <cstddef>
#include <string>

#include "ports/schema_check.h"

#include "adapters/json_schema/json_tree.h"

namespace postrider::json_schema {

/// Appends the text of `value`. Returns false, soon, if it has more than `bytes_max` bytes: the
/// value differs then from all values with shorter texts. Spends steps as it goes; throws
/// OutOfSteps.
[[nodiscard]] bool append_canonical(std::string& out, const JsonNode& value, std::size_t bytes_max,
                                    StepBudget& budget);

}  // namespace postrider::json_schema
