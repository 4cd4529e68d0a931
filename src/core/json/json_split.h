// Takes an array apart by its brackets and quotes alone, without looking at what the elements are:
// fast, and one bad element spoils no other. Each is still to be checked (json_text.h).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace postrider {

/// The elements of a JSON array, without surrounding white space; an element may be empty where
/// something is missing. nullopt when the text is no array, or its brackets and quotes do not match
/// up: only a reader can say what is wrong then.
[[nodiscard]] std::optional<std::vector<std::string_view>> split_json_array(std::string_view text);

}  // namespace postrider
