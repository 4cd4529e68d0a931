// Typed access to query parameters. An invalid or unknown parameter is an error (400) and never
// ignored, because a filter that is not applied returns the wrong data.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/time.h"

#include "api/json/field_reader.h"
#include "api/resources/context.h"

namespace postrider::api {

/// Every name that is read counts as known. `finish` reports the first error, including unknown
/// parameters. The request must outlive this object. One thread.
class QueryReader {
 public:
  explicit QueryReader(const HttpRequest& request) : query_(request.query) {}

  [[nodiscard]] std::optional<std::string> text(std::string_view name);
  [[nodiscard]] std::optional<bool> boolean(std::string_view name);
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view name, IntegerRange range);
  /// A time or a date, which means the start of that day.
  [[nodiscard]] std::optional<WallTime> time(std::string_view name);
  /// The exclusive end of a range. A date means the end of that day.
  [[nodiscard]] std::optional<WallTime> end_time(std::string_view name);

  /// A list of values: `name=a,b` or `name=a&name=b`.
  [[nodiscard]] std::vector<std::string> list(std::string_view name);

  /// A list of values that `parse` accepts. `what` completes the error message "must be …".
  template <class Parse>
  [[nodiscard]] auto list_of(std::string_view name, Parse parse, std::string_view what) {
    std::vector<typename decltype(parse(std::string_view{}))::value_type> items;
    for (const std::string& word : list(name)) {
      if (auto item = parse(std::string_view{word})) {
        items.push_back(*std::move(item));
      } else {
        refuse(name, "must be " + std::string{what} + ".");
      }
    }
    return items;
  }

  /// One value that `parse` accepts. `what` completes the error message "must be …".
  template <class Parse>
  [[nodiscard]] auto one_of(std::string_view name, Parse parse, std::string_view what)
      -> decltype(parse(std::string_view{})) {
    const std::optional<std::string> word = text(name);
    if (!word) {
      return std::nullopt;
    }
    auto item = parse(std::string_view{*word});
    if (!item) {
      refuse(name, "must be " + std::string{what} + ".");
    }
    return item;
  }

  void refuse(std::string_view name, std::string message);

  /// Call last. Fails with 400 for the first parameter that is wrong or unknown.
  [[nodiscard]] Parsed<void> finish();

 private:
  [[nodiscard]] bool is_known(std::string_view name) const {
    return std::ranges::find(known_, name) != known_.end();
  }

  const std::vector<std::pair<std::string, std::string>>& query_;
  std::vector<std::string> known_;
  std::optional<Problem> fault_;
};

/// Fails with 400 if the request has a query.
[[nodiscard]] Parsed<void> check_no_query(const HttpRequest& request);

}  // namespace postrider::api
