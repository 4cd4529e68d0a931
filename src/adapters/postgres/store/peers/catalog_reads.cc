#include "adapters/postgres/store/peers/catalog_reads.h"

#include <string_view>

namespace postrider::postgres {
namespace {

constexpr std::string_view version_sql = "SELECT version FROM catalog_version";

constexpr std::string_view lock_sql = "SELECT version FROM catalog_version FOR NO KEY UPDATE";

// Returns at least one row. One statement, so that the changes are those of the version.
constexpr std::string_view changes_sql = R"sql(
  SELECT v.version, $1 < v.removed_up_to OR $1 > v.version, c.part, c.webhook_id
    FROM catalog_version v
    LEFT JOIN (SELECT DISTINCT part, webhook_id FROM catalog_change WHERE version > $1) c ON true
   ORDER BY c.part, c.webhook_id
)sql";

// Removes all versions up to the newest one that is old enough. A node that has not read changes
// for longer reads everything again.
constexpr std::string_view remove_sql = R"sql(
  WITH old AS (SELECT max(version) AS version FROM catalog_change
                WHERE at < now() - interval '6 hours'),
       removed AS (DELETE FROM catalog_change c USING old WHERE c.version <= old.version)
  UPDATE catalog_version v SET removed_up_to = old.version
    FROM old WHERE v.removed_up_to < old.version
)sql";

Result<CatalogVersion> take_catalog_version(const Rows& answer) {
  if (answer.count() == 0) {
    return fail(Errc::corrupt, "The version of the catalogue is missing.");
  }
  return answer.integer(0, 0);
}

}  // namespace

Result<CatalogVersion> read_catalog_version(Session& session) {
  POSTRIDER_TRY(const Rows rows, session.run(version_sql));
  return take_catalog_version(rows);
}

Result<CatalogChanges> read_catalog_changes(Session& session, CatalogVersion seen) {
  POSTRIDER_TRY(const Rows rows, session.run(changes_sql, Parameters::of(seen)));
  CatalogChanges changes;
  POSTRIDER_TRY(changes.version, take_catalog_version(rows));
  changes.incomplete = rows.boolean(0, 1);
  for (int row = 0; row < rows.count(); ++row) {
    if (rows.is_null(row, 2)) {
      continue;
    }
    const auto part = rows.as<CatalogPart>(row, 2);
    if (part == CatalogPart::webhooks) {
      changes.webhooks.push_back(rows.id<WebhookId>(row, 3));
    } else {
      changes.parts.push_back(part);
    }
  }
  return changes;
}

Result<CatalogVersion> lock_catalog(Session& session) {
  POSTRIDER_TRY(const Rows rows, session.run(lock_sql));
  return take_catalog_version(rows);
}

Result<void> remove_old_catalog_changes(Session& session) {
  POSTRIDER_CHECK(session.run(remove_sql));
  return {};
}

}  // namespace postrider::postgres
