#include "adapters/postgres/store/database/migrations.h"

#include <charconv>
#include <string>

#include <fmt/format.h>

#include "core/base/assert.h"

#include "adapters/postgres/store/database/advisory_lock.h"

namespace postrider::postgres {
namespace {

/// A later migration may have to build an index on a large table.
constexpr Millis migration_max{24 * 3'600'000};

/// The SQLSTATE of a step that another node has already done. User-defined.
constexpr std::string_view done_by_another = "PR001";

constexpr std::string_view find_schema =
    "SELECT to_regclass(quote_ident(current_schema()) || '.postrider_schema') IS NOT NULL,"
    " EXISTS (SELECT 1 FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace"
    "  AND c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f')"
    "  AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass"
    "   AND d.objid = c.oid AND d.deptype = 'e')),"
    " has_schema_privilege(current_schema(), 'CREATE')";

struct Schema {
  int version = 0;  // 0: there are no tables.
  Uuid identity{};
};

int newest_version() { return static_cast<int>(embedded_migrations().size()); }

/// `0007_stats` leads to version 7.
int version_of(std::string_view name) {
  int version = 0;
  std::from_chars(name.data(), name.data() + name.size(), version);
  return version;
}

Result<Schema> read_schema(Session& session) {
  POSTRIDER_TRY(const Rows found, session.run(find_schema));
  if (!found.boolean(0, 0)) {
    if (found.boolean(0, 1)) {
      return fail(Errc::invalid,
                  "The database schema holds tables that are not Postrider's. Use an empty "
                  "database or schema.");
    }
    if (!found.boolean(0, 2)) {
      return fail(Errc::invalid,
                  "The database user may not create tables in the schema. Grant it CREATE.");
    }
    return Schema{};
  }
  POSTRIDER_TRY(const Rows rows, session.run("SELECT version, identity FROM postrider_schema"));
  if (rows.count() != 1) {
    return fail(Errc::corrupt, "The table postrider_schema does not have one row.");
  }
  const Schema schema{.version = rows.as<int>(0, 0), .identity = rows.uuid(0, 1)};
  if (schema.version > newest_version()) {
    return fail(Errc::invalid,
                fmt::format("The database was written by a newer version of Postrider (schema {}; "
                            "this version supports up to {}). Start the newer version, or restore "
                            "a backup.",
                            schema.version, newest_version()));
  }
  return schema;
}

/// One transaction.
std::string script_of(const EmbeddedFile& migration, int version) {
  return fmt::format(
      R"sql(BEGIN;
SET LOCAL statement_timeout = 0;
SET LOCAL lock_timeout = 0;
SELECT pg_advisory_xact_lock({lock}, hashtext(current_schema()));
CREATE TABLE IF NOT EXISTS postrider_schema (version integer NOT NULL, identity uuid NOT NULL);
INSERT INTO postrider_schema SELECT 0, gen_random_uuid()
 WHERE NOT EXISTS (SELECT 1 FROM postrider_schema);
DO $$ BEGIN
  IF (SELECT version FROM postrider_schema) <> {before} THEN
    RAISE EXCEPTION 'already migrated' USING ERRCODE = '{done}';
  END IF;
END $$;
{sql}
UPDATE postrider_schema SET version = {version};
COMMIT)sql",
      fmt::arg("lock", static_cast<std::int32_t>(AdvisoryLock::migration)),
      fmt::arg("before", version - 1), fmt::arg("done", done_by_another),
      fmt::arg("sql", migration.text), fmt::arg("version", version));
}

}  // namespace

Result<Uuid> migrate(Session& session) {
  while (true) {
    POSTRIDER_TRY(const Schema schema, read_schema(session));
    if (schema.version == newest_version()) {
      return schema.identity;
    }
    const EmbeddedFile& next = embedded_migrations()[static_cast<std::size_t>(schema.version)];
    POSTRIDER_ASSERT(version_of(next.name) == schema.version + 1);
    const Result<void> done =
        session.run_script(script_of(next, schema.version + 1), migration_max);
    if (!done && session.sqlstate() != done_by_another) {
      return tl::make_unexpected(done.error());
    }
  }
}

Result<SchemaVersions> read_versions(Session& session) {
  POSTRIDER_TRY(const Schema schema, read_schema(session));
  return SchemaVersions{.found = schema.version, .newest = newest_version()};
}

Result<Uuid> check_schema(Session& session) {
  POSTRIDER_TRY(const Schema schema, read_schema(session));
  if (schema.version != newest_version()) {
    return fail(Errc::invalid,
                fmt::format("The database has schema {}, not {}: another version of Postrider "
                            "wrote it, or it was emptied.",
                            schema.version, newest_version()));
  }
  return schema.identity;
}

}  // namespace postrider::postgres
