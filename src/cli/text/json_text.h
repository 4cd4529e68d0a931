// Formats parts of a JSON response as text that is safe to print on a terminal. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <boost/json/value.hpp>

namespace postrider::cli {

namespace json = boost::json;

/// Returns the member at a path such as `circuit.state`, or nullptr if there is none.
[[nodiscard]] const json::value* member(const json::value& value, std::string_view path);

/// Formats a string with escaped control characters, a list with commas, an object as JSON. Null
/// and missing members are empty.
[[nodiscard]] std::string text_of(const json::value& value);
[[nodiscard]] std::string text_at(const json::value& value, std::string_view path);

/// Returns 0 if the member is missing, negative or not an integer.
[[nodiscard]] std::uint64_t count_at(const json::value& value, std::string_view path);

/// Formats an object as aligned lines, one for each member that is not empty. Nested members are
/// named `outer.inner`. Lists of objects are omitted; use a table for them.
[[nodiscard]] std::string fields_text(const json::value& object);

}  // namespace postrider::cli
