#include "adapters/postgres/store/database/maintenance.h"

#include <memory>

#include "adapters/postgres/store/database/migrations.h"
#include "adapters/postgres/store/database/session.h"
#include "adapters/postgres/store/database/writer.h"

namespace postrider {

Result<SchemaVersions> postgres_schema_versions(const PostgresOptions& options) {
  static const postgres::Interruption never;
  POSTRIDER_TRY(postgres::Session session,
                postgres::Session::open(options.connect,
                                        options.interruption ? *options.interruption : never));
  return postgres::read_versions(session);
}

Result<SchemaVersions> migrate_postgres(const PostgresOptions& options) {
  POSTRIDER_TRY(const SchemaVersions versions, postgres_schema_versions(options));
  if (versions.found == versions.newest) {
    return versions;
  }
  PostgresOptions alone = options;
  alone.use = DatabaseUse::alone;
  Result<std::unique_ptr<postgres::Writer>> writer = postgres::Writer::open(alone);
  if (!writer) {
    Error error = std::move(writer).error();
    if (error.code == Errc::conflict) {
      error.message += " Stop all servers before a migration.";
    }
    return tl::make_unexpected(std::move(error));
  }
  return versions;
}

}  // namespace postrider
