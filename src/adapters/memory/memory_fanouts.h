// The notes of events that go to many webhooks, in the memory store. Hold the store's mutex.
#pragma once

#include <algorithm>

#include "adapters/memory/memory_store.h"

namespace postrider {

/// Call if the publish has a fanout or deliveries.
[[nodiscard]] inline MemoryFanout make_note(const Publish& publish) {
  if (publish.fanout) {
    return {.fanout = *publish.fanout, .place = 0, .remaining = publish.fanout->count};
  }
  auto webhooks = std::make_shared<std::vector<WebhookId>>();
  for (const Delivery& delivery : publish.deliveries) {
    webhooks->push_back(delivery.webhook_id);
  }
  const auto count = static_cast<std::uint32_t>(webhooks->size());
  return {.fanout = {.webhooks = std::move(webhooks),
                     .chosen = {},
                     .count = count,
                     .due = publish.deliveries.front().due},
          .place = 0,
          .remaining = count};
}

/// Removes the next webhook from the note. Call while some remain.
[[nodiscard]] inline WebhookId take_next(MemoryFanout& note) {
  while (!is_chosen(note.fanout.chosen, note.place)) {
    ++note.place;
  }
  --note.remaining;
  return (*note.fanout.webhooks)[note.place++];
}

[[nodiscard]] inline const MemoryFanout* find_note(const MemoryStore& store, const Event& event) {
  const auto found = store.fanouts.find({event.tenant_id, event.sequence});
  return found == store.fanouts.end() ? nullptr : &found->second;
}

/// Whether the event has a note from which a delivery to this webhook will be made.
[[nodiscard]] inline bool will_reach(const MemoryStore& store, const Event& event,
                                     WebhookId webhook_id) {
  const MemoryFanout* note = find_note(store, event);
  if (note == nullptr) {
    return false;
  }
  const std::vector<WebhookId>& webhooks = *note->fanout.webhooks;
  const auto found = std::ranges::find(webhooks, webhook_id);
  const auto place = static_cast<std::size_t>(found - webhooks.begin());
  return found != webhooks.end() && place >= note->place && is_chosen(note->fanout.chosen, place);
}

}  // namespace postrider
