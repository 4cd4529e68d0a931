#include "adapters/sqlite/history/audit_reader.h"

#include <utility>

#include <fmt/format.h>

#include "core/base/assert.h"
#include "ports/audit_chain.h"

#include "adapters/sqlite/admin/audit_writer.h"
#include "adapters/sqlite/database/snapshot.h"

namespace postrider::sqlite {
namespace {

template <class Value>
void where_given(Select& select, std::string_view condition, const std::optional<Value>& value) {
  if (value) {
    select.where(condition, *value);
  }
}

std::string_view index_for(const AuditFilter& filter) {
  if (filter.subject) {
    return "INDEXED BY audit_entry_subject";
  }
  return filter.tenant_id ? "INDEXED BY audit_entry_tenant" : "NOT INDEXED";
}

class SqliteAuditReader final : public AuditReader {
 public:
  SqliteAuditReader(std::shared_ptr<Database> database, Digest digest)
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
    return snapshot(*database_, [&] { return walk(after, limit); });
  }

 private:
  Result<ChainWalk> walk(std::int64_t after, std::uint32_t limit) {
    ChainWalk walk{.last = after};
    if (after > 0) {
      POSTRIDER_TRY(walk.head, hash_of(after));
    }
    POSTRIDER_TRY(Statement statement,
                  database_->prepare(fmt::format("SELECT {} FROM audit_entry WHERE sequence > ?1"
                                                 " ORDER BY sequence LIMIT ?2",
                                                 audit_columns)));
    Query query = statement.query(after, std::int64_t{limit} + 1);
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

  Result<std::string> hash_of(std::int64_t sequence) {
    POSTRIDER_TRY(Statement statement,
                  database_->prepare("SELECT hash FROM audit_entry WHERE sequence = ?1"));
    Query query = statement.query(sequence);
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return fail(Errc::not_found, "There is no such entry.");
    }
    return query.text(0);
  }

  std::shared_ptr<Database> database_;
  Digest digest_;
};

}  // namespace

Select select_audit(const AuditFilter& filter, const Page& page) {
  Select select{fmt::format("SELECT {} FROM audit_entry {}", audit_columns, index_for(filter))};
  where_given(select, "subject = ?", filter.subject);
  where_given(select, "tenant_id = ?", filter.tenant_id);
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
  return std::make_unique<SqliteAuditReader>(std::move(database), digest);
}

}  // namespace postrider::sqlite
