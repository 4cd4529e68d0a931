#include "adapters/postgres/store/postgres_store.h"

#include <memory>

#include "adapters/postgres/store/copy/copy_target.h"
#include "adapters/postgres/store/database/reader.h"
#include "adapters/postgres/store/database/writer.h"
#include "adapters/postgres/store/history/history.h"
#include "adapters/postgres/store/history/source_row_reader.h"
#include "adapters/postgres/store/history/stats.h"
#include "adapters/postgres/store/ledger/ledger.h"
#include "adapters/postgres/store/ledger/source_rows.h"
#include "adapters/postgres/store/ledger/webhook_deliveries.h"
#include "adapters/postgres/store/peers/held_shards.h"
#include "adapters/postgres/store/peers/peers.h"
#include "adapters/postgres/store/retention/retention_reader.h"
#include "adapters/postgres/store/retention/retention_writer.h"
#include "adapters/sql/admin/alerts.h"
#include "adapters/sql/admin/audit_reader.h"
#include "adapters/sql/admin/audit_writer.h"
#include "adapters/sql/admin/catalog.h"
#include "adapters/sql/admin/event_types.h"
#include "adapters/sql/admin/notifications.h"
#include "adapters/sql/admin/operations.h"
#include "adapters/sql/admin/registry.h"
#include "adapters/sql/admin/request_keys.h"

namespace postrider {

Result<Store> open_postgres_store(const PostgresOptions& options) {
  POSTRIDER_TRY(const std::shared_ptr<postgres::Writer> writer, postgres::Writer::open(options));
  POSTRIDER_CHECK(postgres::begin_to_use_copy(writer->session()));
  const auto held = std::make_shared<postgres::HeldShards>();
  return Store{
      .ledger = postgres::make_ledger(writer, held),
      .catalog = sql::make_catalog({.writer = writer,
                                    .deliveries = postgres::make_webhook_deliveries(writer),
                                    .vault = options.vault}),
      .event_types = sql::make_event_types(writer),
      .registry = sql::make_registry(writer),
      .audit = sql::make_audit_writer(writer),
      .alerts = sql::make_alert_writer(writer),
      .notifications = sql::make_notification_writer(writer),
      .operations = sql::make_operation_writer(writer),
      .request_keys = sql::make_request_key_writer(writer),
      .retention = postgres::make_retention_writer(writer),
      .source_rows = postgres::make_source_row_writer(writer),
      .peers = postgres::make_peers(writer, held),
      .atomically = [writer](const auto& body) { return writer->transact_repeatedly(body); }};
}

Result<Reader> open_postgres_reader(const PostgresOptions& options) {
  POSTRIDER_TRY(const std::shared_ptr<postgres::ReadConnection> connection,
                postgres::ReadConnection::open(options));
  // Owned by the connection, and shares its life.
  const std::shared_ptr<sql::Database> database{connection, &connection->database()};
  return Reader{.history = postgres::make_history(connection),
                .audit = sql::make_audit_reader(database, options.digest),
                .alerts = sql::make_alert_reader(database),
                .notifications = sql::make_notification_reader(database),
                .operations = sql::make_operation_reader(database),
                .request_keys = sql::make_request_key_reader(database),
                .stats = postgres::make_stats(connection),
                .retention = postgres::make_retention_reader(connection),
                .source_rows = postgres::make_source_row_reader(connection)};
}

}  // namespace postrider
