// One command's conversation with a server: calls, errors in sentences, answers as text or JSON.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/json/value.hpp>

#include "core/base/result.h"

#include "cli/client/connection.h"

namespace postrider::cli {

namespace json = boost::json;

struct Call {
  std::string method = "GET";
  std::string path;  // Its variable parts through path_part().
  std::vector<std::pair<std::string, std::string>> query;
  std::optional<json::value> body;
};

class Session {
 public:
  using Text = std::function<std::string(const json::value& answer)>;

  explicit Session(Connection connection) : connection_(std::move(connection)) {}

  /// The parsed answer; null when there is no body. Fails with not_found (404), conflict (the
  /// server refused) or unavailable (it cannot be reached, or is in trouble). The message names
  /// the fields and says what to do next. With --json the refusal itself is printed as well.
  [[nodiscard]] Result<json::value> call(const Call& call) const;

  /// Calls, then prints the answer: as it is with --json, else as `text` puts it.
  [[nodiscard]] Result<void> show(const Call& call, const Text& text) const;

  [[nodiscard]] bool json() const { return connection_.json; }
  [[nodiscard]] const Connection& connection() const { return connection_; }

 private:
  [[nodiscard]] Result<std::string> exchange(const Call& call) const;

  Connection connection_;
};

/// Percent-encodes everything that is not unreserved: one segment of a path, or a query's value.
[[nodiscard]] std::string path_part(std::string_view text);

}  // namespace postrider::cli
