// Splits a JSON array using only brackets and quotes, without validating the elements. Fast, and an
// invalid element does not affect the others. The caller must validate each element (json_text.h).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace postrider {

/// The elements of a JSON array, without surrounding white space. A missing element is empty.
/// Returns nullopt if the text is not an array or its brackets and quotes do not match; use
/// read_json_array for an error message.
[[nodiscard]] std::optional<std::vector<std::string_view>> split_json_array(std::string_view text);

}  // namespace postrider
