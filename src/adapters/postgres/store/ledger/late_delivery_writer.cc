#include "adapters/postgres/store/ledger/late_delivery_writer.h"

#include <cstring>
#include <string_view>
#include <variant>

namespace postrider::postgres {
namespace {

constexpr std::size_t id_bytes = sizeof(WebhookId::bytes);

// The ids are sorted, so the rows are locked in their order.
constexpr std::string_view lock_events_sql =
    "SELECT e.id, e.tenant_id FROM (SELECT unnest($1::uuid[]) AS id) k"
    " JOIN event e ON e.id = k.id FOR UPDATE OF e";

// Read before the deliveries: what has left a note by then is found as a delivery.
constexpr std::string_view find_notes_sql =
    "SELECT e.id, f.list, f.place, f.chosen FROM (SELECT unnest($1::uuid[]) AS id) k"
    " JOIN event e ON e.id = k.id JOIN fanout f ON f.event = e.sequence";

constexpr std::string_view find_deliveries_sql = R"sql(
  WITH k AS (SELECT unnest($1::uuid[]) AS event_id, unnest($2::uuid[]) AS webhook_id)
  SELECT k.event_id, k.webhook_id
    FROM k JOIN waiting d ON d.event_id = k.event_id AND d.webhook_id = k.webhook_id
   UNION ALL
  SELECT k.event_id, k.webhook_id
    FROM k JOIN delivery d ON d.event_id = k.event_id AND d.webhook_id = k.webhook_id
)sql";

constexpr std::string_view read_list_sql =
    "SELECT webhooks FROM fanout_list WHERE list = $1 ORDER BY part";

}  // namespace

LateDeliveryWriter::LateDeliveryWriter(const Batch& batch) : batch_(batch) {}

void LateDeliveryWriter::queue_reads(Session& session) {
  if (batch_.late_deliveries.empty()) {
    return;
  }
  std::set<EventId> events;
  Array event_ids{ElementType::uuid};
  Array webhook_ids{ElementType::uuid};
  for (const AddLateDelivery& order : batch_.late_deliveries) {
    events.insert(order.delivery.event_id);
    event_ids.add(order.delivery.event_id);
    webhook_ids.add(order.delivery.webhook_id);
  }
  Array sorted{ElementType::uuid};
  for (const EventId& id : events) {
    sorted.add(id);
  }
  first_answer_ = session.queue(lock_events_sql, Parameters::of(sorted));
  session.queue(find_notes_sql, Parameters::of(std::move(sorted)));
  session.queue(find_deliveries_sql, Parameters::of(std::move(event_ids), std::move(webhook_ids)));
}

Result<void> LateDeliveryWriter::take(Session& session, const std::vector<Rows>& answers) {
  if (!first_answer_) {
    return {};
  }
  const Rows& events = answers[*first_answer_];
  for (int row = 0; row < events.count(); ++row) {
    events_.emplace(events.id<EventId>(row, 0), events.text(row, 1));
  }
  const Rows& deliveries = answers[*first_answer_ + 2];
  for (int row = 0; row < deliveries.count(); ++row) {
    reached_.emplace(deliveries.id<EventId>(row, 0), deliveries.id<WebhookId>(row, 1));
  }
  return read_notes(session, answers[*first_answer_ + 1]);
}

Result<void> LateDeliveryWriter::read_notes(Session& session, const Rows& notes) {
  std::vector<std::size_t> lists;
  for (int row = 0; row < notes.count(); ++row) {
    lists.push_back(session.queue(read_list_sql, Parameters::of(notes.integer(row, 1))));
  }
  if (lists.empty()) {
    return {};
  }
  POSTRIDER_TRY(const std::vector<Rows> answers, session.exchange());
  for (int row = 0; row < notes.count(); ++row) {
    const Rows& parts = answers[lists[static_cast<std::size_t>(row)]];
    std::string ids;
    for (int part = 0; part < parts.count(); ++part) {
      ids += parts.bytes(part, 0);
    }
    const std::string chosen = notes.blob(row, 3);
    const auto count = ids.size() / id_bytes;
    for (auto place = static_cast<std::size_t>(notes.integer(row, 2)); place < count; ++place) {
      if (is_chosen(chosen, place)) {
        WebhookId id;
        std::memcpy(id.bytes.data(), ids.data() + place * id_bytes, id_bytes);
        reached_.emplace(notes.id<EventId>(row, 0), id);
      }
    }
  }
  return {};
}

void LateDeliveryWriter::add_published(const std::vector<PublishReceipt>& receipts) {
  if (batch_.late_deliveries.empty()) {
    return;
  }
  for (std::size_t i = 0; i < receipts.size(); ++i) {
    const Publish& publish = batch_.publishes[i];
    if (!std::holds_alternative<Accepted>(receipts[i])) {
      continue;
    }
    events_.emplace(publish.event.id, publish.event.tenant_id);
    for (const Delivery& delivery : publish.deliveries) {
      reached_.emplace(publish.event.id, delivery.webhook_id);
    }
    for (std::size_t place = 0; publish.fanout && place < publish.fanout->webhooks->size();
         ++place) {
      if (is_chosen(publish.fanout->chosen, place)) {
        reached_.emplace(publish.event.id, (*publish.fanout->webhooks)[place]);
      }
    }
  }
}

std::optional<Delivery> LateDeliveryWriter::add(const AddLateDelivery& order,
                                                const Results& results) {
  const auto event = events_.find(order.delivery.event_id);
  if (event == events_.end() ||
      !reached_.emplace(order.delivery.event_id, order.delivery.webhook_id).second) {
    return std::nullopt;
  }
  const TenantId& tenant_id = event->second;
  Delivery delivery = order.delivery;
  delivery.sequence = results.sequences.next();
  results.deliveries.add(
      delivery,
      {.tenant_id = tenant_id, .now = order.now, .late = true, .operation = order.operation});
  results.stats.of_webhook(delivery.webhook_id, tenant_id, order.now).tally.deliveries += 1;
  results.stats.of_tenant(tenant_id, order.now).deliveries += 1;
  return delivery;
}

}  // namespace postrider::postgres
