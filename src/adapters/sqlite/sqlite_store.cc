#include "adapters/sqlite/sqlite_store.h"

#include <utility>

#include "adapters/sqlite/catalog.h"
#include "adapters/sqlite/ledger.h"
#include "adapters/sqlite/writer.h"

namespace postrider {

Result<SqliteStore> open_sqlite_store(const SqliteOptions& options) {
  POSTRIDER_TRY(std::shared_ptr<sqlite::Writer> writer, sqlite::Writer::open(options));
  POSTRIDER_TRY(std::unique_ptr<Ledger> ledger, sqlite::open_ledger(writer));
  return SqliteStore{std::move(ledger), sqlite::make_catalog(std::move(writer))};
}

}  // namespace postrider
