#include "adapters/postgres/store/ledger/claim_keys.h"

#include <string>
#include <utility>

#include "core/base/assert.h"

namespace postrider::postgres {
namespace {

// The event of a claim may be missing only if someone removed it by hand. The claim is then free.
constexpr std::string_view read_sql = R"sql(
  SELECT c.tenant_id, c.key, c.body_digest, CASE WHEN e.id IS NULL THEN 0 ELSE c.expires_at END,
         c.event_id, CASE WHEN e.fanned_out > 0 THEN e.fanned_out ELSE e.delivery_count END,
         NOT EXISTS (SELECT 1 FROM waiting w WHERE w.event_id = c.event_id)
         AND NOT EXISTS (SELECT 1 FROM fanout f WHERE f.event = e.sequence)
    FROM (SELECT unnest($1::text[]) AS tenant_id, unnest($2::text[]) AS key) k
    JOIN claim c ON c.tenant_id = k.tenant_id AND c.key = k.key
    LEFT JOIN event e ON e.id = c.event_id
)sql";

constexpr std::string_view remove_sql = R"sql(
  DELETE FROM claim c
   USING (SELECT unnest($1::text[]) AS tenant_id, unnest($2::text[]) AS key,
                 unnest($3::uuid[]) AS event_id) k
   WHERE c.tenant_id = k.tenant_id AND c.key = k.key AND c.event_id = k.event_id
)sql";

constexpr std::string_view insert_sql = R"sql(
  INSERT INTO claim (tenant_id, key, event_id, body_digest, expires_at)
  SELECT unnest($1::text[]), unnest($2::text[]), unnest($3::uuid[]), unnest($4::bytea[]),
         unnest($5::bigint[])
)sql";

// SKIP LOCKED: another node may be removing claims at the same time.
constexpr std::string_view cleanup_sql = R"sql(
  DELETE FROM claim WHERE (tenant_id, key) IN
    (SELECT tenant_id, key FROM claim WHERE expires_at <= $1
      ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)
)sql";

StoredClaim claim_of(const Publish& holder) {
  const std::size_t count = delivery_count(holder);
  return {.body_digest = holder.claim->body_digest,
          .expires_at = holder.claim->expires_at,
          .first = {.first_id = holder.event.id,
                    .first_deliveries = static_cast<std::uint32_t>(count),
                    .finished = count == 0}};
}

}  // namespace

ClaimKeys::ClaimKeys(std::span<const Publish> publishes) {
  for (const Publish& publish : publishes) {
    if (publish.claim) {
      uses_.try_emplace({publish.event.tenant_id, publish.claim->key});
    }
  }
}

void ClaimKeys::queue_read(Session& session) {
  if (uses_.empty()) {
    return;
  }
  Array tenant_ids{ElementType::text};
  Array keys{ElementType::text};
  for (const auto& [key, use] : uses_) {
    tenant_ids.add(key.first);
    keys.add(key.second);
  }
  answer_ = session.queue(read_sql, Parameters::of(std::move(tenant_ids), std::move(keys)));
}

void ClaimKeys::take(const std::vector<Rows>& answers) {
  if (!answer_) {
    return;
  }
  const Rows& rows = answers[*answer_];
  for (int row = 0; row < rows.count(); ++row) {
    const std::string tenant_id = rows.text(row, 0);
    const std::string key = rows.text(row, 1);
    const auto use = uses_.find({tenant_id, key});
    POSTRIDER_ASSERT(use != uses_.end());
    use->second.stored = StoredClaim{.body_digest = rows.blob(row, 2),
                                     .expires_at = rows.time(row, 3),
                                     .first = {.first_id = rows.id<EventId>(row, 4),
                                               .first_deliveries = rows.as<std::uint32_t>(row, 5),
                                               .finished = rows.boolean(row, 6)}};
  }
}

std::optional<StoredClaim> ClaimKeys::find(std::string_view tenant_id, std::string_view key) const {
  const Use& use = uses_.at({tenant_id, key});
  return use.holder == nullptr ? use.stored : std::optional{claim_of(*use.holder)};
}

void ClaimKeys::hold(const Publish& publish) {
  if (publish.claim) {
    uses_.at({publish.event.tenant_id, publish.claim->key}).holder = &publish;
  }
}

void ClaimKeys::queue_removal(Session& session) const {
  Array tenant_ids{ElementType::text};
  Array keys{ElementType::text};
  Array event_ids{ElementType::uuid};
  for (const auto& [key, use] : uses_) {
    if (use.holder != nullptr && use.stored) {
      tenant_ids.add(key.first);
      keys.add(key.second);
      event_ids.add(use.stored->first.first_id);
    }
  }
  if (keys.size() > 0) {
    session.queue(remove_sql,
                  Parameters::of(std::move(tenant_ids), std::move(keys), std::move(event_ids)));
  }
}

std::size_t ClaimKeys::add_to(JoinedStatement& joined) const {
  Array tenant_ids{ElementType::text};
  Array keys{ElementType::text};
  Array event_ids{ElementType::uuid};
  Array digests{ElementType::bytea};
  Array expiries{ElementType::int8};
  for (const auto& [key, use] : uses_) {
    if (use.holder != nullptr) {
      tenant_ids.add(key.first);
      keys.add(key.second);
      event_ids.add(use.holder->event.id);
      digests.add(Blob{use.holder->claim->body_digest});
      expiries.add(use.holder->claim->expires_at);
    }
  }
  const std::size_t count = keys.size();
  if (count > 0) {
    joined.add("new_claims", insert_sql,
               Parameters::of(std::move(tenant_ids), std::move(keys), std::move(event_ids),
                              std::move(digests), std::move(expiries)));
  }
  return count;
}

void queue_claim_cleanup(Session& session, WallTime now, std::size_t limit) {
  session.queue(cleanup_sql, Parameters::of(now, limit));
}

}  // namespace postrider::postgres
