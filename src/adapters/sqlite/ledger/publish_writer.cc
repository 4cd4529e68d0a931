#include "adapters/sqlite/ledger/publish_writer.h"

#include <algorithm>

#include "core/base/overloaded.h"
#include "core/stored/trace_bytes.h"

#include "adapters/sql/state_sql.h"

namespace postrider::sqlite {
namespace {

constexpr std::string_view insert_event_sql = R"sql(
  INSERT INTO event (sequence, id, tenant, type, priority, timestamp, created_at, delivery_count,
                     idempotency_key, resource_id, source, ordering_key, metadata, data, source_id,
                     trace, trace_state)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)
)sql";

// See the migration for `delivery_count`.
constexpr std::string_view mark_fanned_out_sql =
    "UPDATE event SET delivery_count = 1, fanned_out = ?2 WHERE sequence = ?1";

constexpr std::string_view insert_delivery_sql = R"sql(
  INSERT INTO delivery (sequence, id, event, lane, previous, ordered, tenant, type, priority, state,
                        trigger, due, attempt_count, budget_used, created_at, updated_at, trace)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?15, ?16)
)sql";

// Replaces an expired claim on the same key.
constexpr std::string_view insert_claim_sql = R"sql(
  INSERT OR REPLACE INTO claim (event, tenant, key, body_digest, expires_at)
  VALUES (?1, ?2, ?3, ?4, ?5)
)sql";

constexpr std::string_view find_claim_sql = R"sql(
  SELECT c.event, c.body_digest, c.expires_at, e.id, e.delivery_count, e.fanned_out
    FROM claim c JOIN event e ON e.sequence = c.event
   WHERE c.tenant = ?1 AND c.key = ?2
)sql";

constexpr auto find_waiting_sql = sql::with_states(R"sql(
  SELECT 1 FROM delivery NOT INDEXED
   WHERE sequence >= ?1 AND sequence < ?1 + ?2 AND event = ?1 AND state <= {last_waiting}
   UNION ALL
  SELECT 1 FROM delivery INDEXED BY delivery_late
   WHERE event = ?1 AND late = 1 AND state <= {last_waiting}
   UNION ALL
  SELECT 1 FROM fanout WHERE event = ?1
   LIMIT 1
)sql");

constexpr std::string_view find_row_sql = R"sql(
  SELECT r.generation, r.settled, e.sequence, e.id, e.delivery_count, e.fanned_out
    FROM source_row r JOIN event e ON e.sequence = r.event
   WHERE r.source = ?1 AND r.row_id = ?2
)sql";

// Replaces the event that the row became before.
constexpr std::string_view track_row_sql = R"sql(
  INSERT OR REPLACE INTO source_row (source, row_id, event, generation, revision, settled)
  SELECT ?1, ?2, sequence, ?4, 0, 0 FROM event WHERE id = ?3
)sql";

// Claims live about equally long, so the oldest ones expire first.
constexpr std::string_view remove_claims_sql = R"sql(
  DELETE FROM claim
   WHERE event IN (SELECT event FROM claim ORDER BY event LIMIT ?1) AND expires_at <= ?2
)sql";

}  // namespace

Result<PublishWriter> PublishWriter::open(Writer::Session& session) {
  PublishWriter writer{session};
  POSTRIDER_CHECK(session.database.prepare_all({
      {&writer.insert_event_, insert_event_sql},
      {&writer.mark_fanned_out_, mark_fanned_out_sql},
      {&writer.insert_delivery_, insert_delivery_sql},
      {&writer.insert_claim_, insert_claim_sql},
      {&writer.find_claim_, find_claim_sql},
      {&writer.find_waiting_, find_waiting_sql},
      {&writer.find_row_, find_row_sql},
      {&writer.track_row_, track_row_sql},
      {&writer.remove_claims_, remove_claims_sql},
  }));
  return writer;
}

Result<void> PublishWriter::store(std::span<const Publish> publishes, FanoutWriter& fanouts,
                                  BatchReceipt& receipt) {
  receipt.publishes.reserve(publishes.size());
  fanouts.begin();
  for (std::span<const Publish> rest = publishes; !rest.empty();) {
    const std::size_t length = group_length(rest);
    POSTRIDER_CHECK(store_group(rest.first(length), fanouts, receipt));
    rest = rest.subspan(length);
  }
  return remove_expired_claims(publishes);
}

Result<void> PublishWriter::store_group(std::span<const Publish> group, FanoutWriter& fanouts,
                                        BatchReceipt& receipt) {
  const Overloaded lookup{
      [this](const TenantId& tenant_id, const std::string& key) {
        return find_claim(tenant_id, key);
      },
      [this](const SourceRow& row) { return find_row(row); },
  };
  POSTRIDER_TRY(const std::vector<PublishPlan> plans, plan_group(group, lookup));
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (const Duplicate* duplicate = std::get_if<Duplicate>(&plans[i])) {
      POSTRIDER_CHECK(track_duplicate(group[i], *duplicate));
      receipt.publishes.emplace_back(*duplicate);
    } else if (std::holds_alternative<Refused>(plans[i])) {
      receipt.publishes.emplace_back(Refused{});
    } else {
      POSTRIDER_TRY(Accepted accepted, store_one(group[i], fanouts));
      add_waiting(group[i], accepted, receipt.waiting_change);
      POSTRIDER_CHECK(track_row(group[i], group[i].event.id));
      if (accepted.fanned_out > 0) {
        receipt.fanouts[group[i].event.tenant_id] += accepted.fanned_out;
      }
      receipt.publishes.emplace_back(std::move(accepted));
    }
  }
  return {};
}

Result<Accepted> PublishWriter::store_one(const Publish& publish, FanoutWriter& fanouts) {
  if (publish.fanout || publish.ordered) {
    POSTRIDER_TRY(const std::int64_t tenant, session_->tenants.number_of(publish.event.tenant_id));
    POSTRIDER_TRY(const bool needs_note, fanouts.needs_note(publish, tenant));
    if (needs_note) {
      return store_with_note(publish, tenant, fanouts);
    }
  }
  // An event without deliveries takes a sequence too, for paging.
  const std::int64_t event_sequence = session_->next_sequence;
  session_->next_sequence += std::max<std::int64_t>(1, std::ssize(publish.deliveries));

  POSTRIDER_CHECK(store_event(publish, event_sequence, publish.deliveries.size()));
  Accepted accepted{.deliveries = publish.deliveries};
  std::int64_t sequence = event_sequence;
  for (Delivery& delivery : accepted.deliveries) {
    delivery.sequence = sequence++;
    POSTRIDER_CHECK(store_delivery(delivery, publish, event_sequence));
  }
  POSTRIDER_CHECK(store_claim(publish, event_sequence));
  return accepted;
}

/// The deliveries are made later.
Result<Accepted> PublishWriter::store_with_note(const Publish& publish, std::int64_t tenant,
                                                FanoutWriter& fanouts) {
  const std::int64_t event_sequence = session_->next_sequence++;
  POSTRIDER_CHECK(store_event(publish, event_sequence, 0));
  POSTRIDER_TRY(const std::uint32_t count, fanouts.add(publish, event_sequence, tenant));
  POSTRIDER_CHECK(mark_fanned_out_.run(event_sequence, count));
  POSTRIDER_CHECK(store_claim(publish, event_sequence));
  return Accepted{.deliveries = {}, .fanned_out = count};
}

Result<void> PublishWriter::store_claim(const Publish& publish, std::int64_t event_sequence) {
  if (!publish.claim) {
    return {};
  }
  POSTRIDER_TRY(const std::int64_t tenant, session_->tenants.number_of(publish.event.tenant_id));
  return insert_claim_.run(event_sequence, tenant, publish.claim->key,
                           Blob{publish.claim->body_digest}, publish.claim->expires_at);
}

Result<void> PublishWriter::store_event(const Publish& publish, std::int64_t sequence,
                                        std::size_t deliveries) {
  const Event& event = publish.event;
  POSTRIDER_TRY(const std::int64_t tenant, session_->tenants.number_of(event.tenant_id));
  POSTRIDER_TRY(const std::int64_t type, session_->types.number_of(event.type));
  POSTRIDER_TRY(DeliveryTally * tally, session_->stats.of_tenant(tenant, event.created_at));
  tally->published += 1;
  tally->deliveries += deliveries;
  const std::string trace = stored::pack_trace(event.trace);
  return insert_event_.run(sequence, event.id, tenant, type, event.priority, event.timestamp,
                           event.created_at, deliveries, event.idempotency_key, event.resource_id,
                           event.source, event.ordering_key, event.metadata, event.data,
                           event.source_id, blob_or_null(trace), stored::state_of(event.trace));
}

Result<void> PublishWriter::store_delivery(const Delivery& delivery, const Publish& publish,
                                           std::int64_t event_sequence) {
  POSTRIDER_TRY(const std::int64_t tenant, session_->tenants.number_of(publish.event.tenant_id));
  POSTRIDER_TRY(const std::int64_t type, session_->types.number_of(delivery.event_type));
  POSTRIDER_TRY(LaneEntry * lane, session_->lanes.find_or_add(delivery.webhook_id, tenant));
  const std::string trace = stored::pack_mark(delivery.trace);
  POSTRIDER_CHECK(insert_delivery_.run(delivery.sequence, delivery.id, event_sequence, lane->lane,
                                       lane->last_delivery, lane->ordered, tenant, type,
                                       delivery.priority, delivery.state, delivery.trigger,
                                       delivery.due, delivery.attempt_count, delivery.budget_used,
                                       publish.event.created_at, blob_or_null(trace)));
  lane->last_delivery = delivery.sequence;
  POSTRIDER_TRY(DeliveryTally * tally,
                session_->stats.of_lane(*lane, tenant, publish.event.created_at));
  tally->published += 1;
  tally->deliveries += 1;
  session_->lanes.mark_changed(*lane);
  return {};
}

Result<std::optional<StoredClaim>> PublishWriter::find_claim(const TenantId& tenant_id,
                                                             const std::string& key) {
  POSTRIDER_TRY(const std::optional<std::int64_t> tenant, session_->tenants.find(tenant_id));
  if (!tenant) {
    return std::nullopt;
  }
  Query query = find_claim_.query(*tenant, key);
  POSTRIDER_TRY(const bool found, query.next());
  if (!found) {
    return std::nullopt;
  }
  POSTRIDER_TRY(const bool finished, is_finished(query.integer(0), query.integer(4)));
  const bool fanned_out = query.integer(5) > 0;
  return StoredClaim{.body_digest = query.text(1),
                     .expires_at = query.time(2),
                     .first = {.first_id = query.id<EventId>(3),
                               .first_deliveries = query.as<std::uint32_t>(fanned_out ? 5 : 4),
                               .finished = finished}};
}

Result<std::optional<StoredRow>> PublishWriter::find_row(const SourceRow& row) {
  Query query = find_row_.query(row.source, row.row_id);
  POSTRIDER_TRY(const bool found, query.next());
  if (!found) {
    return std::nullopt;
  }
  POSTRIDER_TRY(const bool finished, is_finished(query.integer(2), query.integer(4)));
  const bool fanned_out = query.integer(5) > 0;
  return StoredRow{.generation = query.as<std::uint32_t>(0),
                   .settled = query.integer(1) != 0,
                   .first = {.first_id = query.id<EventId>(3),
                             .first_deliveries = query.as<std::uint32_t>(fanned_out ? 5 : 4),
                             .finished = finished}};
}

Result<void> PublishWriter::track_row(const Publish& publish, EventId event_id) {
  if (!publish.row) {
    return {};
  }
  return track_row_.run(publish.row->source, publish.row->row_id, event_id,
                        publish.row->generation);
}

/// The row of a publish whose key is used refers to the event that has the key.
Result<void> PublishWriter::track_duplicate(const Publish& publish, const Duplicate& duplicate) {
  if (!publish.row || !duplicate.same_body) {
    return {};
  }
  POSTRIDER_TRY(const std::optional<StoredRow> stored, find_row(*publish.row));
  return stored ? Result<void>{} : track_row(publish, duplicate.first_id);
}

Result<bool> PublishWriter::is_finished(std::int64_t event_sequence, std::int64_t delivery_count) {
  Query query = find_waiting_.query(event_sequence, delivery_count);
  POSTRIDER_TRY(const bool waiting, query.next());
  return !waiting;
}

Result<void> PublishWriter::remove_expired_claims(std::span<const Publish> publishes) {
  const auto claims = std::ranges::count_if(
      publishes, [](const Publish& publish) { return publish.claim.has_value(); });
  if (claims == 0) {
    return {};
  }
  // Twice as many as were added, so that the table shrinks after a burst.
  return remove_claims_.run(2 * claims, publishes.back().event.created_at);
}

}  // namespace postrider::sqlite
