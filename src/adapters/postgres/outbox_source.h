// Takes events from a table in the application's own PostgreSQL database.
#pragma once

#include <memory>
#include <string>

#include "core/base/secret.h"
#include "core/base/time.h"
#include "ports/event_source.h"

namespace postrider {

struct OutboxOptions {
  std::string name;  // Of the source. Shown beside the cursor in the database.
  Secret<std::string> address;
  std::string ca_file;  // As in ConnectOptions of connection.h.
  std::string table = "webhook_outbox";
  /// Owner of the lease; unique among the nodes. If it is the same after a restart, the node does
  /// not have to wait for the end of its own lease.
  std::string node;
};

/// Reads rows in commit order and keeps a cursor; never changes a row. One node reads at a time:
/// the table has one cursor, and the node that moves it has a lease.
[[nodiscard]] std::unique_ptr<EventSource> make_outbox_cursor_source(OutboxOptions options);

}  // namespace postrider
