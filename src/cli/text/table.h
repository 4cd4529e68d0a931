// Formats lists as aligned columns, cut to the width of the terminal. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/value.hpp>

namespace postrider::cli {

namespace json = boost::json;

struct Column {
  std::string title;
  std::string path;  // Path of the value in an item: `circuit.state`.
};

struct TableStyle {
  std::optional<std::size_t> width;  // Unset: nothing is cut.
};

/// Formats a title line and a line for each row. Columns that do not fit are shortened, the longest
/// first. The first column, which holds the id, is never cut.
[[nodiscard]] std::string table_text(const std::vector<std::string>& titles,
                                     const std::vector<std::vector<std::string>>& rows,
                                     const TableStyle& style);

/// Formats a list of objects.
[[nodiscard]] std::string list_text(const json::value& list, const std::vector<Column>& columns,
                                    const TableStyle& style);

/// Formats a page `{data, next_cursor}`: the table or "Nothing found.", and the cursor of the next
/// page.
[[nodiscard]] std::string page_text(const json::value& page, const std::vector<Column>& columns,
                                    const TableStyle& style);

/// Counts code points, which is close enough to columns for ids, times, types and URLs.
[[nodiscard]] std::size_t width_of(std::string_view text);

}  // namespace postrider::cli
