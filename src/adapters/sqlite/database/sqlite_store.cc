#include "adapters/sqlite/database/sqlite_store.h"

#include <memory>
#include <utility>

#include "adapters/sql/admin/alerts.h"
#include "adapters/sql/admin/audit_reader.h"
#include "adapters/sql/admin/audit_writer.h"
#include "adapters/sql/admin/catalog.h"
#include "adapters/sql/admin/event_types.h"
#include "adapters/sql/admin/notifications.h"
#include "adapters/sql/admin/operations.h"
#include "adapters/sql/admin/registry.h"
#include "adapters/sql/admin/request_keys.h"
#include "adapters/sqlite/admin/source_rows.h"
#include "adapters/sqlite/admin/webhook_deliveries.h"
#include "adapters/sqlite/database/data_directory.h"
#include "adapters/sqlite/database/database.h"
#include "adapters/sqlite/database/writer.h"
#include "adapters/sqlite/history/history.h"
#include "adapters/sqlite/history/stats.h"
#include "adapters/sqlite/ledger/ledger.h"
#include "adapters/sqlite/retention/retention_reader.h"
#include "adapters/sqlite/retention/retention_writer.h"

namespace postrider {

Result<Store> open_sqlite_store(const SqliteOptions& options) {
  POSTRIDER_TRY(const std::shared_ptr<sqlite::Writer> writer, sqlite::Writer::open(options));
  POSTRIDER_TRY(std::unique_ptr<Ledger> ledger, sqlite::open_ledger(writer));
  return Store{.ledger = std::move(ledger),
               .catalog = sql::make_catalog({.writer = writer,
                                             .deliveries = sqlite::make_webhook_deliveries(writer),
                                             .vault = options.vault}),
               .event_types = sql::make_event_types(writer),
               .registry = sql::make_registry(writer),
               .audit = sql::make_audit_writer(writer),
               .alerts = sql::make_alert_writer(writer),
               .notifications = sql::make_notification_writer(writer),
               .operations = sql::make_operation_writer(writer),
               .request_keys = sql::make_request_key_writer(writer),
               .retention = sqlite::make_retention_writer(writer),
               .source_rows = sqlite::make_source_row_writer(writer),
               .atomically = [writer](const auto& body) { return writer->transact(body); },
               .incident = writer->incident()};
}

Result<Reader> open_sqlite_reader(const SqliteOptions& options) {
  POSTRIDER_TRY(sqlite::Database opened,
                sqlite::Database::open({.file = sqlite::database_file(options.directory),
                                        .access = sqlite::Access::read,
                                        .vfs = options.vfs}));
  POSTRIDER_CHECK(
      opened.execute("PRAGMA mmap_size = 0; PRAGMA cache_size = -8192;"
                     "PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF"));
  const auto database = std::make_shared<sqlite::Database>(std::move(opened));
  return Reader{.history = sqlite::make_history(database, options.vault),
                .audit = sql::make_audit_reader(database, options.digest),
                .alerts = sql::make_alert_reader(database),
                .notifications = sql::make_notification_reader(database),
                .operations = sql::make_operation_reader(database),
                .request_keys = sql::make_request_key_reader(database),
                .stats = sqlite::make_stats(database),
                .retention = sqlite::make_retention_reader(database),
                .source_rows = sqlite::make_source_row_reader(database)};
}

}  // namespace postrider
