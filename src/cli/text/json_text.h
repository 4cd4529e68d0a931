// Parts of an answer as text that a terminal can show. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <boost/json/value.hpp>

namespace postrider::cli {

namespace json = boost::json;

/// By a path such as `circuit.state`; nullptr when there is none.
[[nodiscard]] const json::value* member(const json::value& value, std::string_view path);

/// A text as it is but for control characters, lists with commas, objects as JSON; null and what is
/// missing as nothing.
[[nodiscard]] std::string text_of(const json::value& value);
[[nodiscard]] std::string text_at(const json::value& value, std::string_view path);

/// 0 when it is missing, negative or no integer.
[[nodiscard]] std::uint64_t count_at(const json::value& value, std::string_view path);

/// An object as aligned lines, one for each member that is not empty; nested ones as `outer.inner`.
/// Lists of objects are left out: they deserve a table.
[[nodiscard]] std::string fields_text(const json::value& object);

}  // namespace postrider::cli
