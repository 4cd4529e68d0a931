#include "api/json/query_reader.h"

#include <fmt/format.h>

#include "core/base/range_time.h"

#include "api/json/json_writer.h"

namespace postrider::api {
namespace {

constexpr std::size_t list_items_max = 100;  // Each item becomes a term of the SQL query.
constexpr TextRule text_rule{.bytes_max = 512, .multiline = false};
constexpr std::size_t name_shown_max = 64;

}  // namespace

void QueryReader::refuse(std::string_view name, std::string message) {
  if (fault_) {
    return;
  }
  const std::string shown = clip(clean_utf8(name), name_shown_max);
  fault_ = Problem{.status = 400,
                   .code = "invalid_query",
                   .title = "The query is not valid",
                   .detail = fmt::format("The query parameter `{}` {}", shown, message),
                   .errors = {{shown, message}}};
}

std::vector<std::string> QueryReader::list(std::string_view name) {
  known_.emplace_back(name);
  std::vector<std::string> items;
  for (const auto& [key, value] : query_) {
    if (key != name) {
      continue;
    }
    for (std::size_t start = 0; start <= value.size() && items.size() <= list_items_max;) {
      const std::size_t comma = std::min(value.find(',', start), value.size());
      items.push_back(value.substr(start, comma - start));
      start = comma + 1;
    }
  }
  if (items.size() > list_items_max) {
    refuse(name, fmt::format("must have at most {} items.", list_items_max));
  }
  for (const std::string& item : items) {
    if (const std::optional<std::string> wrong = text_fault(item, text_rule)) {
      refuse(name, *wrong);
    }
  }
  return items;
}

std::optional<std::string> QueryReader::text(std::string_view name) {
  known_.emplace_back(name);
  std::optional<std::string> found;
  for (const auto& [key, value] : query_) {
    if (key != name) {
      continue;
    }
    if (found) {
      refuse(name, "must be sent only once.");
    }
    if (const std::optional<std::string> wrong = text_fault(value, text_rule)) {
      refuse(name, *wrong);
    }
    found = value;
  }
  return found;
}

std::optional<bool> QueryReader::boolean(std::string_view name) {
  const std::optional<std::string> word = text(name);
  if (!word) {
    return std::nullopt;
  }
  if (*word != "true" && *word != "false") {
    refuse(name, "must be true or false.");
  }
  return *word == "true";
}

std::optional<std::int64_t> QueryReader::integer(std::string_view name, IntegerRange range) {
  const std::optional<std::string> word = text(name);
  if (!word) {
    return std::nullopt;
  }
  // read_integer() would also accept `1e2`, which is valid in JSON but not in a query.
  const bool only_digits = word->find_first_not_of("0123456789") == std::string::npos;
  const std::optional<std::int64_t> value = only_digits ? read_integer(*word, range) : std::nullopt;
  if (!value) {
    refuse(name, fmt::format("must be an integer from {} to {}.", range.min, range.max));
  }
  return value;
}

std::optional<WallTime> QueryReader::time(std::string_view name) {
  return one_of(name, parse_range_start, range_time_words);
}

std::optional<WallTime> QueryReader::end_time(std::string_view name) {
  return one_of(name, parse_range_end, range_time_words);
}

Parsed<void> QueryReader::finish() {
  for (const auto& [key, value] : query_) {
    if (!is_known(key)) {
      refuse(key, "is not supported by this request.");
    }
  }
  if (fault_) {
    return tl::make_unexpected(*fault_);
  }
  return {};
}

Parsed<void> check_no_query(const HttpRequest& request) { return QueryReader{request}.finish(); }

}  // namespace postrider::api
