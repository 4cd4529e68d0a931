// A connection to an outbox in status mode. Both halves of the mode have one each. One thread,
// except for the interruption.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "core/base/result.h"

#include "adapters/postgres/connection.h"
#include "adapters/postgres/outbox_source.h"
#include "adapters/postgres/status_table.h"
#include "adapters/postgres/waiting.h"

namespace postrider::postgres {

class StatusSession {
 public:
  explicit StatusSession(OutboxOptions options) : options_(std::move(options)) {}

  /// Connects, or connects again, and inspects the table. Every failure, here and below, closes the
  /// connection and is unavailable: the caller connects again.
  [[nodiscard]] Result<void> connect();

  /// See Connection.
  [[nodiscard]] Result<TextRows> execute(const std::string& sql, const TextParameters& parameters);
  [[nodiscard]] Result<TextRows> script(const std::string& sql);
  /// As `script`. If it waits for a lock longer than its `lock_timeout`, it fails with conflict and
  /// the connection stays open.
  [[nodiscard]] Result<void> lock(const std::string& sql);

  [[nodiscard]] const std::string& node() const { return options_.node; }
  /// As it was when the connection was made.
  [[nodiscard]] const StatusTable& table() const { return table_; }
  [[nodiscard]] Interruption& interruption() { return interruption_; }

 private:
  [[nodiscard]] Result<void> open();
  [[nodiscard]] Result<TextRows> checked(Result<TextRows> rows);
  [[nodiscard]] tl::unexpected<Error> lost(const Error& error);

  OutboxOptions options_;
  Interruption interruption_;
  std::optional<Connection> connection_;  // After `interruption_`, which it refers to.
  StatusTable table_;
};

}  // namespace postrider::postgres
