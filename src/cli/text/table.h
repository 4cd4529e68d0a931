// Lists as aligned columns, cut to the terminal's width. Pure but for `shown_width`.
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
  std::string path;  // Where the cell is in an item: `circuit.state`.
};

struct TableStyle {
  std::optional<std::size_t> width;  // Nothing is cut without one.
};

/// A title line and a line for each row. Columns that do not fit are shortened, the longest first;
/// the first column, which holds the id, is never cut.
[[nodiscard]] std::string table_text(const std::vector<std::string>& titles,
                                     const std::vector<std::vector<std::string>>& rows,
                                     const TableStyle& style);

/// A list of objects by its columns.
[[nodiscard]] std::string list_text(const json::value& list, const std::vector<Column>& columns,
                                    const TableStyle& style);

/// A page `{data, next_cursor}`: the table, or that there is nothing, and how to see more.
[[nodiscard]] std::string page_text(const json::value& page, const std::vector<Column>& columns,
                                    const TableStyle& style);

/// Of standard output.
[[nodiscard]] TableStyle shown_width();

/// Code points, which is close enough to columns for ids, times, types and URLs.
[[nodiscard]] std::size_t width_of(std::string_view text);

}  // namespace postrider::cli
