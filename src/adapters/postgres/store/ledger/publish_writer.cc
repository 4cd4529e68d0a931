#include "adapters/postgres/store/ledger/publish_writer.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "core/base/assert.h"
#include "core/base/overloaded.h"

namespace postrider::postgres {

PublishWriter::PublishWriter(std::span<const Publish> publishes)
    : publishes_(publishes), claims_(publishes), rows_(publishes), notes_(publishes) {}

std::size_t PublishWriter::sequences_needed() const {
  std::size_t count = 0;
  for (const Publish& publish : publishes_) {
    count += std::max<std::size_t>(1, publish.deliveries.size());
  }
  return count;
}

void PublishWriter::queue_reads(Session& session) {
  claims_.queue_read(session);
  rows_.queue_read(session);
  notes_.queue_read(session);
}

void PublishWriter::take(const std::vector<Rows>& answers) {
  claims_.take(answers);
  rows_.take(answers);
  notes_.take(answers);
}

void PublishWriter::plan(const Results& results) {
  std::size_t data_bytes = 0;
  for (const Publish& publish : publishes_) {
    data_bytes += publish.event.data.size();
  }
  events_.reserve(publishes_.size(), data_bytes);
  results.deliveries.reserve(publishes_.size());
  results.receipt.publishes.reserve(publishes_.size());
  for (std::span<const Publish> rest = publishes_; !rest.empty();) {
    const std::size_t length = group_length(rest);
    const Publish& first = rest.front();
    if (length == 1 && !first.claim && !first.row) {
      results.receipt.publishes.emplace_back(store(first, results));
    } else {
      plan_group(rest.first(length), results);
    }
    rest = rest.subspan(length);
  }
}

void PublishWriter::plan_group(std::span<const Publish> group, const Results& results) {
  const Overloaded lookup{
      [this](const TenantId& tenant_id, const std::string& key) {
        return Result<std::optional<StoredClaim>>{claims_.find(tenant_id, key)};
      },
      [this](const SourceRow& row) { return Result<std::optional<StoredRow>>{rows_.find(row)}; },
  };
  const auto plans = postrider::plan_group(group, lookup);
  POSTRIDER_ASSERT(plans.has_value());  // The lookup cannot fail.
  for (std::size_t i = 0; i < group.size(); ++i) {
    const Publish& publish = group[i];
    if (const Duplicate* duplicate = std::get_if<Duplicate>(&(*plans)[i])) {
      if (publish.row && duplicate->same_body && !rows_.find(*publish.row)) {
        rows_.track(publish, *duplicate);
      }
      results.receipt.publishes.emplace_back(*duplicate);
    } else if (std::holds_alternative<Refused>((*plans)[i])) {
      results.receipt.publishes.emplace_back(Refused{});
    } else {
      results.receipt.publishes.emplace_back(store(publish, results));
      claims_.hold(publish);
      const std::size_t count = delivery_count(publish);
      rows_.track(publish, {.first_id = publish.event.id,
                            .first_deliveries = static_cast<std::uint32_t>(count),
                            .finished = count == 0});
    }
  }
}

Accepted PublishWriter::store(const Publish& publish, const Results& results) {
  if (notes_.needs_note(publish)) {
    return store_with_note(publish, results);
  }
  Accepted accepted{.deliveries = publish.deliveries};
  EventPlace place{.delivery_count = accepted.deliveries.size()};
  const Event& event = publish.event;
  for (Delivery& delivery : accepted.deliveries) {
    delivery.sequence = results.sequences.next();
    results.deliveries.add(delivery, {.tenant_id = event.tenant_id, .now = event.created_at});
    DeliveryTally& tally =
        results.stats.of_webhook(delivery.webhook_id, event.tenant_id, event.created_at).tally;
    tally.published += 1;
    tally.deliveries += 1;
  }
  // An event without deliveries takes a sequence too, for paging.
  place.sequence =
      accepted.deliveries.empty() ? results.sequences.next() : accepted.deliveries.front().sequence;
  add_event(publish, place, results);
  results.stats.of_tenant(event.tenant_id, event.created_at).deliveries +=
      accepted.deliveries.size();
  add_waiting(publish, accepted, results.receipt.waiting_change);
  return accepted;
}

/// The deliveries are made later.
Accepted PublishWriter::store_with_note(const Publish& publish, const Results& results) {
  EventPlace place{.sequence = results.sequences.next(), .delivery_count = 1};
  place.fanned_out = notes_.add(publish, place.sequence);
  add_event(publish, place, results);
  results.receipt.fanouts[publish.event.tenant_id] += place.fanned_out;
  return {.deliveries = {}, .fanned_out = place.fanned_out};
}

void PublishWriter::add_event(const Publish& publish, const EventPlace& place,
                              const Results& results) {
  const Event& event = publish.event;
  events_.add(event, place);
  results.stats.of_tenant(event.tenant_id, event.created_at).published += 1;
}

std::size_t PublishWriter::add_to(JoinedStatement& joined) {
  events_.add_to(joined);
  return claims_.add_to(joined);
}

void PublishWriter::queue_last(Session& session) {
  rows_.queue_writes(session);
  std::move(notes_).queue_writes(session);
}

}  // namespace postrider::postgres
