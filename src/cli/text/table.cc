#include "cli/text/table.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "cli/text/json_text.h"

namespace postrider::cli {
namespace {

constexpr std::size_t gap = 2;
constexpr std::size_t column_width_min = 6;  // Shorter cells are useless; let the line wrap.

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

std::string cut(std::string_view text, std::size_t width) {
  if (width_of(text) <= width) {
    return std::string{text};
  }
  std::size_t end = 0;
  for (std::size_t shown = 0; end < text.size(); ++end) {
    shown += continues_character(text[end]) ? 0 : 1;
    if (shown == width) {
      break;
    }
  }
  return std::string{text.substr(0, end)} + "…";
}

using Widths = std::vector<std::size_t>;

Widths natural_widths(const std::vector<std::vector<std::string>>& lines) {
  Widths widths(lines.front().size(), 0);
  for (const std::vector<std::string>& line : lines) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], width_of(line[i]));
    }
  }
  return widths;
}

void shrink(Widths& widths, std::size_t width) {
  const std::size_t gaps = gap * (widths.size() - 1);
  std::size_t total = std::accumulate(widths.begin(), widths.end(), gaps);
  while (total > width && widths.size() > 1) {
    const auto longest = std::max_element(widths.begin() + 1, widths.end());
    if (*longest <= column_width_min) {
      return;
    }
    --*longest;
    --total;
  }
}

std::string line_text(const std::vector<std::string>& cells, const Widths& widths) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string shown = cut(cells[i], widths[i]);
    line += shown;
    line.append(widths[i] - std::min(widths[i], width_of(shown)) + gap, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return !continues_character(c); }));
}

std::string table_text(const std::vector<std::string>& titles,
                       const std::vector<std::vector<std::string>>& rows, const TableStyle& style) {
  std::vector<std::vector<std::string>> lines{titles};
  lines.insert(lines.end(), rows.begin(), rows.end());
  Widths widths = natural_widths(lines);
  if (style.width) {
    shrink(widths, *style.width);
  }
  std::string text;
  for (const std::vector<std::string>& line : lines) {
    text += line_text(line, widths);
  }
  return text;
}

std::string list_text(const json::value& list, const std::vector<Column>& columns,
                      const TableStyle& style) {
  std::vector<std::string> titles;
  titles.reserve(columns.size());
  for (const Column& column : columns) {
    titles.push_back(column.title);
  }
  std::vector<std::vector<std::string>> rows;
  for (const json::value& item : list.is_array() ? list.get_array() : json::array{}) {
    std::vector<std::string>& row = rows.emplace_back();
    for (const Column& column : columns) {
      const std::string text = text_at(item, column.path);
      row.push_back(text.empty() ? "-" : text);
    }
  }
  return table_text(titles, rows, style);
}

std::string page_text(const json::value& page, const std::vector<Column>& columns,
                      const TableStyle& style) {
  const json::value* const data = member(page, "data");
  if (data == nullptr || !data->is_array() || data->get_array().empty()) {
    return "Nothing found.\n";
  }
  std::string text = list_text(*data, columns, style);
  if (const std::string cursor = text_at(page, "next_cursor"); !cursor.empty()) {
    text += fmt::format("More results: --cursor {}\n", cursor);
  }
  return text;
}

}  // namespace postrider::cli
