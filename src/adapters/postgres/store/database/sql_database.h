// The interface that the shared roles of a store use (adapters/sql), on a session of PostgreSQL.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/result.h"

#include "adapters/postgres/store/database/rows.h"
#include "adapters/postgres/store/database/session.h"
#include "adapters/sql/database.h"

namespace postrider::postgres {

/// `?1`, `?2`, … become `$1`, `$2`, … A question mark in quotes is kept.
[[nodiscard]] std::string translate_parameters(std::string_view sql);

class SqlDatabase final : public sql::Database {
 public:
  using Body = std::function<Result<Rows>(Session&)>;
  enum class Access : std::uint8_t { write, read };

  /// `use` calls its argument with the current session, so that statements stay usable after a
  /// reconnect.
  SqlDatabase(std::function<Result<Rows>(const Body&)> use, Access access)
      : use_(std::move(use)), access_(access) {}

  /// Does not contact the server. The first run reports an error in `sql`.
  [[nodiscard]] Result<sql::Statement> prepare(std::string_view sql) override;
  [[nodiscard]] Result<sql::Statement> prepare_once(std::string_view sql) override;
  [[nodiscard]] std::int64_t changes() const override { return changes_; }
  [[nodiscard]] std::string_view row_lock() const override {
    return access_ == Access::write ? " FOR UPDATE" : "";
  }

 private:
  friend class SqlCursor;

  std::function<Result<Rows>(const Body&)> use_;
  Access access_;
  std::int64_t changes_ = 0;
};

}  // namespace postrider::postgres
