// Typed access to the query of a list. A wrong or unknown parameter is a mistake worth a 400, never
// something to skip: a filter that was not applied shows the wrong data.
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

/// Every name a caller asks for is known; `fault` reports the first thing wrong, the unknown
/// included. The request outlives the reader. One thread.
class QueryReader {
 public:
  explicit QueryReader(const HttpRequest& request) : query_(request.query) {}

  [[nodiscard]] std::optional<std::string> text(std::string_view name);
  [[nodiscard]] std::optional<bool> boolean(std::string_view name);
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view name, IntegerRange range);
  [[nodiscard]] std::optional<WallTime> time(std::string_view name);

  /// `name=a,b` and `name=a&name=b` are the same.
  [[nodiscard]] std::vector<std::string> list(std::string_view name);

  /// A list whose every item `parse` understands. `what` says what an item must be.
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

  /// One word that `parse` understands.
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

  /// To be asked last. 400 naming the parameter; nullopt when all is well.
  [[nodiscard]] std::optional<Problem> fault();

 private:
  [[nodiscard]] bool is_known(std::string_view name) const {
    return std::ranges::find(known_, name) != known_.end();
  }

  const std::vector<std::pair<std::string, std::string>>& query_;
  std::vector<std::string> known_;
  std::optional<Problem> fault_;
};

/// 400 when a request that takes no query has one.
[[nodiscard]] std::optional<Problem> query_problem(const HttpRequest& request);

}  // namespace postrider::api
