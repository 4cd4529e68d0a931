// The requests of one command to a server. Turns error responses into messages and prints responses
// as text or JSON.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/json/value.hpp>

#include "core/base/result.h"

#include "cli/client/connection.h"
#include "cli/ports.h"
#include "cli/text/table.h"

namespace postrider::cli {

namespace json = boost::json;

struct Call {
  std::string method = "GET";
  std::string path;  // Encode variable parts with path_part().
  std::vector<std::pair<std::string, std::string>> query;
  std::optional<json::value> body;
};

class Session {
 public:
  using Text = std::function<std::string(const json::value& answer)>;

  /// `ports` must outlive this object.
  Session(Connection connection, const Ports& ports)
      : connection_(std::move(connection)), ports_(ports) {}

  /// Returns the parsed response, or null if it has no body. Fails with not_found (404), conflict
  /// (the server refused) or unavailable (429, 5xx, or no connection). The message names the wrong
  /// fields and gives advice. With --json it also prints the error response.
  [[nodiscard]] Result<json::value> call(const Call& call) const;

  /// Calls, then prints the response: unchanged with --json, otherwise formatted by `text`.
  [[nodiscard]] Result<void> show(const Call& call, const Text& text) const;

  /// Calls, then prints a page `{data, next_cursor}`: unchanged with --json, otherwise as a table.
  [[nodiscard]] Result<void> show_page(const Call& call, const std::vector<Column>& columns) const;

  [[nodiscard]] bool json() const { return connection_.json; }
  [[nodiscard]] const Connection& connection() const { return connection_; }
  [[nodiscard]] const Ports& ports() const { return ports_; }
  [[nodiscard]] WallTime now() const { return ports_.clock.now().wall; }
  /// Fits tables to the width of the terminal.
  [[nodiscard]] TableStyle table_style() const {
    return {.width = ports_.terminal.stdout_columns()};
  }

 private:
  [[nodiscard]] Result<std::string> exchange(const Call& call) const;

  Connection connection_;
  const Ports& ports_;
};

/// Percent-encodes a path segment or query value: everything but unreserved characters.
[[nodiscard]] std::string path_part(std::string_view text);

}  // namespace postrider::cli
