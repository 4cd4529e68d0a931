#include "adapters/sqlite/sqlite_store.h"

#include <memory>
#include <utility>

#include "adapters/sqlite/alert_book.h"
#include "adapters/sqlite/attic.h"
#include "adapters/sqlite/audit_log.h"
#include "adapters/sqlite/catalog.h"
#include "adapters/sqlite/data_directory.h"
#include "adapters/sqlite/database.h"
#include "adapters/sqlite/event_types.h"
#include "adapters/sqlite/history.h"
#include "adapters/sqlite/journal.h"
#include "adapters/sqlite/ledger.h"
#include "adapters/sqlite/operations.h"
#include "adapters/sqlite/registry.h"
#include "adapters/sqlite/removal.h"
#include "adapters/sqlite/request_keys.h"
#include "adapters/sqlite/stats.h"
#include "adapters/sqlite/writer.h"

namespace postrider {

Result<Store> open_sqlite_store(const SqliteOptions& options) {
  POSTRIDER_TRY(const std::shared_ptr<sqlite::Writer> writer, sqlite::Writer::open(options));
  POSTRIDER_TRY(std::unique_ptr<Ledger> ledger, sqlite::open_ledger(writer));
  return Store{.ledger = std::move(ledger),
               .catalog = sqlite::make_catalog(writer, options.vault),
               .event_types = sqlite::make_event_types(writer),
               .registry = sqlite::make_registry(writer),
               .journal = sqlite::make_journal(writer),
               .alerts = sqlite::make_alert_book(writer),
               .operations = sqlite::make_operation_book(writer),
               .request_keys = sqlite::make_request_keys(writer),
               .removal = sqlite::make_removal(writer),
               .atomically = [writer](const auto& body) { return writer->transact(body); }};
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
                .audit_log = sqlite::make_audit_log(database, options.digest),
                .alerts = sqlite::make_alert_history(database),
                .operations = sqlite::make_operation_list(database),
                .used_keys = sqlite::make_used_keys(database),
                .stats = sqlite::make_stats(database),
                .attic = sqlite::make_attic(database)};
}

}  // namespace postrider
