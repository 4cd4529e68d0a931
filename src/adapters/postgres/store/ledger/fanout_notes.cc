#include "adapters/postgres/store/ledger/fanout_notes.h"

#include <string_view>
#include <utility>

namespace postrider::postgres {
namespace {

constexpr std::string_view read_sql = R"sql(
  SELECT k.tenant_id FROM (SELECT unnest($1::text[]) AS tenant_id) k
   WHERE EXISTS (SELECT 1 FROM fanout f WHERE f.tenant_id = k.tenant_id)
)sql";

constexpr std::string_view insert_sql = R"sql(
  INSERT INTO fanout (event, event_id, tenant_id, list, place, remaining, due, chosen)
  SELECT n.event, n.event_id, n.tenant_id, n.list, 0, n.remaining, n.due, n.chosen
    FROM (SELECT unnest($1::bigint[]) AS event, unnest($2::uuid[]) AS event_id,
                 unnest($3::text[]) AS tenant_id, unnest($4::bigint[]) AS list,
                 unnest($5::bigint[]) AS remaining, unnest($6::bigint[]) AS due,
                 unnest($7::bytea[]) AS chosen) n
)sql";

bool is_ordered(const Publish& publish) {
  return publish.ordered && !publish.fanout && !publish.deliveries.empty();
}

}  // namespace

FanoutNotes::FanoutNotes(std::span<const Publish> publishes) {
  for (const Publish& publish : publishes) {
    if (is_ordered(publish)) {
      ordered_.insert(publish.event.tenant_id);
    }
  }
}

void FanoutNotes::queue_read(Session& session) {
  if (ordered_.empty()) {
    return;
  }
  Array tenant_ids{ElementType::text};
  for (const TenantId& tenant_id : ordered_) {
    tenant_ids.add(tenant_id);
  }
  answer_ = session.queue(read_sql, Parameters::of(std::move(tenant_ids)));
}

void FanoutNotes::take(const std::vector<Rows>& answers) {
  if (!answer_) {
    return;
  }
  const Rows& rows = answers[*answer_];
  for (int row = 0; row < rows.count(); ++row) {
    have_notes_.insert(rows.text(row, 0));
  }
}

bool FanoutNotes::needs_note(const Publish& publish) const {
  return publish.fanout || (is_ordered(publish) && have_notes_.contains(publish.event.tenant_id));
}

std::uint32_t FanoutNotes::add(const Publish& publish, std::int64_t sequence) {
  std::int64_t list = sequence;
  auto remaining = static_cast<std::uint32_t>(publish.deliveries.size());
  WallTime due;
  std::string_view chosen;
  if (publish.fanout) {
    const Fanout& fanout = *publish.fanout;
    const auto [known, added] = lists_.try_emplace(fanout.webhooks.get(), sequence);
    list = known->second;
    if (added) {
      parts_.add(list, *fanout.webhooks);
    }
    remaining = fanout.count;
    due = fanout.due;
    chosen = fanout.chosen;
  } else {
    std::vector<WebhookId> webhooks;
    webhooks.reserve(publish.deliveries.size());
    for (const Delivery& delivery : publish.deliveries) {
      webhooks.push_back(delivery.webhook_id);
    }
    parts_.add(list, webhooks);
    due = publish.deliveries.front().due;
  }
  have_notes_.insert(publish.event.tenant_id);
  events_.add(sequence);
  event_ids_.add(publish.event.id);
  tenant_ids_.add(publish.event.tenant_id);
  list_numbers_.add(list);
  remaining_.add(remaining);
  dues_.add(due);
  chosen_.add(Blob{chosen});
  return remaining;
}

void FanoutNotes::queue_writes(Session& session) && {
  if (events_.size() == 0) {
    return;
  }
  std::move(parts_).queue(session);
  session.queue(insert_sql,
                Parameters::of(std::move(events_), std::move(event_ids_), std::move(tenant_ids_),
                               std::move(list_numbers_), std::move(remaining_), std::move(dues_),
                               std::move(chosen_)));
}

}  // namespace postrider::postgres
