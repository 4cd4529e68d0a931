// The SQL that makes an outbox: what `postrider outbox init` prints or applies.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"
#include "core/base/secret.h"

namespace postrider {

enum class OutboxColumns : std::uint8_t { native, debezium };

struct OutboxDdlOptions {
  std::string table = "webhook_outbox";
  OutboxColumns columns = OutboxColumns::native;
};

/// For the mode `cursor`. Can be run again. Fails with invalid if the name of the table is not
/// suitable.
[[nodiscard]] Result<std::string> outbox_cursor_ddl(const OutboxDdlOptions& options);

/// For the mode `status`, also for a table that exists. Can be run again. Fails with invalid if the
/// name of the table is not suitable.
[[nodiscard]] Result<std::string> outbox_status_ddl(const std::string& table);

/// Runs the text in the database. Fails with invalid if the server refuses it, for example because
/// a privilege is missing, and with unavailable if it cannot be reached.
[[nodiscard]] Result<void> apply_outbox_ddl(const Secret<std::string>& address,
                                            const std::string& ddl);

}  // namespace postrider
