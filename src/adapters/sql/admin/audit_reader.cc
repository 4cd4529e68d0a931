#include "adapters/sql/admin/audit_reader.h"

#include <utility>

#include <fmt/format.h>

#include "core/base/assert.h"
#include "ports/audit_chain.h"

#include "adapters/sql/admin/audit_writer.h"

namespace postrider::sql {
namespace {

constexpr std::string_view walk_sql = "SELECT " POSTRIDER_AUDIT_COLUMNS
                                      " FROM audit_entry WHERE sequence >= ?1"
                                      " ORDER BY sequence LIMIT ?2";

template <class Value>
void where_given(Select& select, std::string_view condition, const std::optional<Value>& value) {
  if (value) {
    select.where(condition, *value);
  }
}

/// A subject has few entries, but its tenant may have many. With both in the filter, the expression
/// keeps the database from using the index of the tenant.
std::string_view tenant_condition(const AuditFilter& filter) {
  return filter.subject ? "coalesce(tenant_id, '') = ?" : "tenant_id = ?";
}

class SqlAuditReader final : public AuditReader {
 public:
  SqlAuditReader(std::shared_ptr<Database> database, Digest digest)
      : database_(std::move(database)), digest_(digest) {}

  Result<Listed<AuditRecord>> list(const AuditFilter& filter, const Page& page) override {
    Listed<AuditRecord> listed;
    if (page.limit == 0) {
      return listed;
    }
    POSTRIDER_TRY(Statement statement, select_audit(filter, page).prepare(*database_));
    Query query = statement.query();
    for (;;) {
      POSTRIDER_TRY(const bool found, query.next());
      if (!found) {
        return listed;
      }
      if (listed.items.size() == page.limit) {
        listed.next = listed.items.back().sequence;
        return listed;
      }
      listed.items.push_back(read_audit(query));
    }
  }

  Result<ChainWalk> verify(std::int64_t after, std::uint32_t limit) override {
    POSTRIDER_ASSERT(digest_ != nullptr);
    ChainWalk walk{.last = after};
    // One statement, so that all rows are of one state of the log. It begins with the entry
    // `after`.
    POSTRIDER_TRY(Statement statement, database_->prepare(walk_sql));
    Query query = statement.query(after, std::int64_t{limit} + (after > 0 ? 2 : 1));
    if (after > 0) {
      POSTRIDER_TRY(const bool found, query.next());
      if (!found || query.integer(0) != after) {
        return fail(Errc::not_found, "There is no such entry.");
      }
      walk.head = read_audit(query).hash;
    }
    for (;;) {
      POSTRIDER_TRY(const bool found, query.next());
      if (!found) {
        return walk;
      }
      if (walk.checked == limit) {
        walk.more = true;
        return walk;
      }
      if (!verify_next(walk, read_audit(query), digest_)) {
        return walk;
      }
    }
  }

 private:
  std::shared_ptr<Database> database_;
  Digest digest_;
};

}  // namespace

Select select_audit(const AuditFilter& filter, const Page& page) {
  Select select{"SELECT " POSTRIDER_AUDIT_COLUMNS " FROM audit_entry"};
  where_given(select, "subject = ?", filter.subject);
  where_given(select, tenant_condition(filter), filter.tenant_id);
  where_given(select, "actor = ?", filter.actor);
  where_given(select, "action = ?", filter.action);
  where_given(select, "at >= ?", filter.from);
  where_given(select, "at < ?", filter.to);
  where_given(select, "sequence < ?", page.before);
  select.append(fmt::format(" ORDER BY sequence DESC LIMIT {} OFFSET {}",
                            std::int64_t{page.limit} + 1, page.offset));
  return select;
}

std::unique_ptr<AuditReader> make_audit_reader(std::shared_ptr<Database> database, Digest digest) {
  return std::make_unique<SqlAuditReader>(std::move(database), digest);
}

}  // namespace postrider::sql
