#include "adapters/sqlite/ledger/lane_cache.h"

#include "core/base/assert.h"
#include "core/stored/tally_bytes.h"

namespace postrider::sqlite {
namespace {

// About 25 MB. A larger cache is cleared between transactions; the table has everything.
constexpr std::size_t entries_max = 65'536;

constexpr std::string_view find_sql = R"sql(
  SELECT lane, tenant, ordered, last_delivery, last_attempt_delivery, last_attempt_number,
         last_success_at, last_failure_at, tally_span, tally_tenant, tally
    FROM lane WHERE webhook_id = ?1
)sql";

constexpr std::string_view insert_sql = R"sql(
  INSERT INTO lane (webhook_id, tenant, ordered, last_delivery, last_attempt_delivery,
                    last_attempt_number)
  VALUES (?1, ?2, 0, 0, 0, 0) RETURNING lane
)sql";

constexpr std::string_view update_sql = R"sql(
  UPDATE lane
     SET tenant = ?2, ordered = ?3, last_delivery = ?4, last_attempt_delivery = ?5,
         last_attempt_number = ?6, last_success_at = ?7, last_failure_at = ?8,
         tally_span = ?9, tally_tenant = ?10, tally = ?11
   WHERE lane = ?1
)sql";

Result<LaneEntry> read_entry(const Query& query) {
  POSTRIDER_TRY(DeliveryTally tally, stored::unpack_tally(query.bytes(10)));
  return LaneEntry{.lane = query.integer(0),
                   .tenant = query.as_or_null<std::int64_t>(1),
                   .ordered = query.integer(2) != 0,
                   .last_delivery = query.integer(3),
                   .last_attempt_delivery = query.integer(4),
                   .last_attempt_number = query.as<std::uint32_t>(5),
                   .last_success_at = query.time_or_null(6),
                   .last_failure_at = query.time_or_null(7),
                   .tally_span = query.integer(8),
                   .tally_tenant = query.integer(9),
                   .tally = std::move(tally)};
}

}  // namespace

Result<LaneCache> LaneCache::open(Database& database) {
  LaneCache cache;
  POSTRIDER_CHECK(database.prepare_all(
      {{&cache.find_, find_sql}, {&cache.insert_, insert_sql}, {&cache.update_, update_sql}}));
  return cache;
}

Result<LaneEntry*> LaneCache::find(WebhookId id) {
  if (const auto known = entries_.find(id); known != entries_.end()) {
    return &known->second;
  }
  Query query = find_.query(id);
  POSTRIDER_TRY(const bool found, query.next());
  if (!found) {
    return nullptr;
  }
  POSTRIDER_TRY(LaneEntry entry, read_entry(query));
  return &entries_.emplace(id, std::move(entry)).first->second;
}

Result<LaneEntry*> LaneCache::find_or_add(WebhookId id, std::int64_t tenant) {
  POSTRIDER_TRY(LaneEntry * known, find(id));
  if (known != nullptr) {
    if (known->tenant && *known->tenant != tenant) {
      known->tenant.reset();
      mark_changed(*known);
    }
    return known;
  }
  Query query = insert_.query(id, tenant);
  POSTRIDER_TRY(const bool inserted, query.next());
  POSTRIDER_ASSERT(inserted);
  LaneEntry entry{.lane = query.integer(0), .tenant = tenant};
  return &entries_.emplace(id, std::move(entry)).first->second;
}

void LaneCache::mark_changed(LaneEntry& entry) {
  if (!entry.changed) {
    entry.changed = true;
    changed_.push_back(&entry);
  }
}

Result<void> LaneCache::write() {
  for (LaneEntry* entry : changed_) {
    packed_.clear();
    stored::pack_tally(entry->tally, packed_);
    POSTRIDER_CHECK(update_.run(entry->lane, entry->tenant, entry->ordered, entry->last_delivery,
                                entry->last_attempt_delivery, entry->last_attempt_number,
                                entry->last_success_at, entry->last_failure_at, entry->tally_span,
                                entry->tally_tenant, Blob{packed_}));
    entry->changed = false;
  }
  changed_.clear();
  if (entries_.size() > entries_max) {
    entries_.clear();
  }
  return {};
}

void LaneCache::clear_cache() {
  changed_.clear();
  entries_.clear();
}

}  // namespace postrider::sqlite
