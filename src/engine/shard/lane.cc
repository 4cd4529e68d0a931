#include "engine/shard/lane.h"

#include <algorithm>
#include <utility>

#include "core/base/assert.h"
#include "core/policy/retry.h"

namespace postrider {
namespace {

// An attempt that could not even begin (its payload cannot be read) is not begun again at once.
constexpr Millis abandoned_pause{1'000};
// A load that failed: the store is in trouble and other lanes ask it too.
constexpr Millis load_failed_pause{1'000};
// A load that brought nothing new although the store has more: it may only not be visible yet.
constexpr Millis load_empty_pause{100};

std::unique_ptr<Window> make_window(Ordering ordering) {
  return ordering == Ordering::none ? make_urgency_window() : make_ordered_window(ordering);
}

}  // namespace

Lane::Lane(LaneIndex index, TenantIndex tenant, WebhookRef webhook, MonoTime now)
    : index_(index),
      tenant_(tenant),
      webhook_(std::move(webhook)),
      window_(make_window(webhook_->ordering)) {
  if (const std::optional<RateLimit>& limit = webhook_->rate_limit) {
    bucket_.emplace(*limit, now);
  }
}

void Lane::change(WebhookRef webhook, MonoTime now) {
  POSTRIDER_ASSERT(webhook->id == webhook_->id);
  removed_ = false;
  gone_ = false;
  const Ordering ordering_before = webhook_->ordering;
  schedule_ += same_schedule(webhook_->retry, webhook->retry) ? 0 : 1;
  webhook_ = std::move(webhook);
  const std::optional<RateLimit>& limit = webhook_->rate_limit;
  if (!limit) {
    bucket_.reset();
  } else if (bucket_) {
    bucket_->change(*limit, now);
  } else {
    bucket_.emplace(*limit, now);
  }
  if (webhook_->ordering != ordering_before) {
    change_order(webhook_->ordering);
  }
}

void Lane::empty_bucket(MonoTime now) {
  if (bucket_) {
    bucket_->empty(now);
  }
}

/// What waits is read again in the new order; what is in flight or unsettled counts as begun in it.
void Lane::change_order(Ordering ordering) {
  let_go();
  const std::optional<WallTime> rest_due = window_->rest_due();
  window_ = make_window(ordering);
  if (rest_due) {
    window_->store_has_more(*rest_due);
  }
  for (const auto& [id, entry] : entries_) {  // Only counted, so that the order does not matter.
    window_->adopt(entry);
  }
}

void Lane::remove() {
  removed_ = true;
  let_go();
  for (auto& [id, entry] : entries_) {
    entry.cancelled = true;
    entry.revival.reset();
  }
}

void Lane::admit(Delivery delivery, const WindowBounds& bounds) {
  POSTRIDER_ASSERT(is_waiting(delivery.state));
  const auto found = entries_.find(delivery.id);
  if (found == entries_.end()) {
    add(std::move(delivery), Arrival::admitted, bounds);
    return;
  }
  Entry& entry = found->second;
  if (entry.place != Place::waiting) {
    entry.cancelled = false;
    entry.revival = Revival{.due = delivery.due,
                            .priority = delivery.priority,
                            .trigger = delivery.trigger,
                            .revivals = delivery.revivals};
    return;
  }
  window_->drop(entry);
  --waiting_[static_cast<std::size_t>(entry.delivery.priority)];
  entry.delivery = std::move(delivery);
  entry.ready_at = entry.delivery.due;
  put_in_line(entry, Arrival::returned, bounds);
}

void Lane::bring_forward(std::vector<Delivery> deliveries, const WindowBounds& bounds) {
  for (Delivery& delivery : deliveries) {
    const auto found = entries_.find(delivery.id);
    if (found == entries_.end()) {
      window_->store_has_more(delivery.due);
      continue;
    }
    Entry& entry = found->second;
    const bool same = entry.place == Place::waiting &&
                      entry.delivery.attempt_count == delivery.attempt_count &&
                      entry.delivery.revivals == delivery.revivals;
    if (same && delivery.due < entry.delivery.due) {
      window_->drop(entry);
      --waiting_[static_cast<std::size_t>(entry.delivery.priority)];
      entry.delivery.due = delivery.due;
      entry.ready_at = delivery.due;
      put_in_line(entry, Arrival::returned, bounds);
    }
  }
}

void Lane::plan_again(Delivery& unsettled, WallTime now) {
  Entry* entry = find(unsettled.id, Place::unsettled);
  if (entry && entry->schedule != schedule_ && is_waiting(unsettled.state)) {
    unsettled.due = due_under(webhook_->retry, unsettled, now);
    entry->delivery.due = unsettled.due;
    entry->ready_at = unsettled.due;
  }
}

void Lane::add(Delivery delivery, Arrival arrival, const WindowBounds& bounds) {
  const DeliveryId id = delivery.id;
  const WallTime due = delivery.due;
  const auto [added, is_new] =
      entries_.emplace(id, Entry{.delivery = std::move(delivery), .ready_at = due, .revival = {}});
  POSTRIDER_ASSERT(is_new);
  put_in_line(added->second, arrival, bounds);
}

void Lane::put_in_line(Entry& entry, Arrival arrival, const WindowBounds& bounds) {
  entry.place = Place::waiting;
  ++waiting_[static_cast<std::size_t>(entry.delivery.priority)];
  if (Entry* forgotten = window_->insert(entry, arrival, bounds)) {
    forget(*forgotten);
  }
}

/// From flight or from the store's desk back in line.
void Lane::come_back(Entry& entry, const WindowBounds& bounds) {
  entry.place = Place::waiting;
  ++waiting_[static_cast<std::size_t>(entry.delivery.priority)];
  Entry* forgotten = window_->insert(entry, Arrival::returned, bounds);
  window_->end(entry);  // Before the entry may be gone.
  if (forgotten) {
    forget(*forgotten);
  }
}

/// Only from memory: the store has it. The window has let go of it already.
void Lane::forget(Entry& entry) {
  POSTRIDER_ASSERT(entry.place == Place::waiting);
  --waiting_[static_cast<std::size_t>(entry.delivery.priority)];
  const DeliveryId id = entry.delivery.id;
  entries_.erase(id);
}

void Lane::let_go() {
  if (window_->count() == 0) {
    return;
  }
  for (Entry* entry : window_->forget_all()) {
    forget(*entry);
  }
  POSTRIDER_ASSERT(entries_.size() == in_flight_count_ + unsettled_count_);
}

LoadLane Lane::begin_load(const WindowBounds& bounds) {
  // Rows that are in flight or unsettled are still waiting as far as the store knows: they come
  // along and are passed over.
  const std::uint32_t limit = window_->load_began(bounds) + in_flight_count_ + unsettled_count_;
  load_ = Load{.ordering = webhook_->ordering, .limit = limit};
  return LoadLane{.webhook_id = webhook_->id,
                  .ordering = webhook_->ordering,
                  .due_before = later(bounds.now, bounds.load_ahead),
                  .limit = limit};
}

void Lane::end_load(LaneLoaded page, const WindowBounds& bounds, MonoTime now) {
  const std::optional<Load> load = std::exchange(load_, std::nullopt);
  if (!load || load->ordering != webhook_->ordering) {
    return;  // Read in an order that no longer holds: it would leave gaps.
  }
  window_->load_ended(page.deliveries, page.rest_due, load->limit);
  bool something_new = false;
  for (Delivery& delivery : page.deliveries) {
    if (is_waiting(delivery.state) && !entries_.contains(delivery.id)) {
      something_new = true;
      add(std::move(delivery), Arrival::loaded, bounds);
    }
  }
  load_not_before_ = something_new ? MonoTime::min() : now + load_empty_pause;
}

void Lane::fail_load(MonoTime now) {
  load_.reset();
  load_not_before_ = now + load_failed_pause;
}

Entry* Lane::next(Priority priority, Candidates candidates, WallTime now) const {
  return window_->next(priority, candidates, now);
}

void Lane::start(Entry& entry, MonoTime now) {
  POSTRIDER_ASSERT(entry.place == Place::waiting);
  POSTRIDER_ASSERT(!closed() && !slots_full());
  window_->start(entry);
  --waiting_[static_cast<std::size_t>(entry.delivery.priority)];
  entry.place = Place::in_flight;
  ++in_flight_count_;
  const bool taken = !bucket_ || bucket_->try_take(now);
  POSTRIDER_ASSERT(taken);
}

void Lane::give_up(Entry& entry, const Delivery& is_now) {
  POSTRIDER_ASSERT(entry.place == Place::waiting);
  window_->start(entry);
  --waiting_[static_cast<std::size_t>(entry.delivery.priority)];
  entry.delivery = is_now;
  entry.place = Place::unsettled;
  ++unsettled_count_;
}

Entry* Lane::find(DeliveryId id, Place place) {
  const auto found = entries_.find(id);
  return found != entries_.end() && found->second.place == place ? &found->second : nullptr;
}

const Entry* Lane::in_flight(DeliveryId id) const {
  const auto found = entries_.find(id);
  return found != entries_.end() && found->second.place == Place::in_flight ? &found->second
                                                                            : nullptr;
}

void Lane::finish(DeliveryId id, const Delivery& is_now) {
  Entry* entry = find(id, Place::in_flight);
  POSTRIDER_ASSERT(entry != nullptr);
  entry->delivery = is_now;
  entry->ready_at = is_now.due;
  entry->place = Place::unsettled;
  entry->schedule = schedule_;
  entry->revival.reset();  // What it is now has taken the revival in.
  --in_flight_count_;
  ++unsettled_count_;
}

void Lane::abandon(DeliveryId id, const WindowBounds& bounds) {
  Entry* entry = find(id, Place::in_flight);
  POSTRIDER_ASSERT(entry != nullptr);
  --in_flight_count_;
  if (entry->cancelled) {
    window_->end(*entry);
    entries_.erase(id);
    return;
  }
  if (const std::optional<Revival> revival = std::exchange(entry->revival, std::nullopt)) {
    entry->delivery.due = revival->due;
    entry->delivery.priority = revival->priority;
    entry->delivery.trigger = revival->trigger;
    entry->delivery.budget_used = 0;
    entry->delivery.revivals = revival->revivals;
  }
  entry->ready_at = std::max(entry->delivery.due, later(bounds.now, abandoned_pause));
  come_back(*entry, bounds);
}

void Lane::settle(DeliveryId id, const WindowBounds& bounds) {
  Entry* entry = find(id, Place::unsettled);
  if (!entry) {
    return;
  }
  --unsettled_count_;
  if (!entry->cancelled && !entry->revival && is_waiting(entry->delivery.state)) {
    come_back(*entry, bounds);
    return;
  }
  window_->end(*entry);
  const std::optional<Revival> revival = entry->revival;
  entries_.erase(id);
  if (revival) {
    // Only the store knows which came first, the revival or what was just settled. If the delivery
    // still waits, those behind it must not go first: all are read again (P4).
    let_go();
    window_->store_has_more(revival->due);
  }
}

void Lane::cancel(DeliveryId id) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) {
    return;
  }
  Entry& entry = found->second;
  if (entry.place == Place::waiting) {
    window_->drop(entry);
    forget(entry);
    return;
  }
  entry.cancelled = true;
  entry.revival.reset();
}

std::optional<Revival> Lane::revival(DeliveryId id) const {
  const auto found = entries_.find(id);
  return found == entries_.end() ? std::nullopt : found->second.revival;
}

std::optional<MonoTime> Lane::rate_limited_until(MonoTime now) const {
  if (!bucket_) {
    return std::nullopt;
  }
  const MonoTime at = bucket_->available_at(now);
  return at > now ? std::optional{at} : std::nullopt;
}

LaneOutlook Lane::look(Moment now, const WindowBounds& bounds) {
  LaneOutlook outlook;
  if (!removed_) {
    outlook.wake_at = breaker_.wakes_at(webhook_->breaker, now.wall);
  }
  if (closed()) {
    let_go();
    return outlook;
  }
  const std::optional<WallTime> circuit_at = breaker_.retry_at(webhook_->breaker, now.wall);
  if (!circuit_at) {
    return outlook;  // An attempt in flight ends first, and then the lane is looked at anyway.
  }
  if (*circuit_at > now.wall) {
    let_go();
    return outlook;
  }
  look_for_load(now, bounds, outlook);
  if (slots_full()) {
    return outlook;
  }
  const WindowOutlook waiting = window_->outlook(now.wall);
  outlook.wake_at = earliest(outlook.wake_at, waiting.next_due);
  const std::optional<MonoTime> token_at =
      waiting.offer.all.any() ? rate_limited_until(now.mono) : std::nullopt;
  if (token_at) {
    outlook.wake_mono_at = earliest(outlook.wake_mono_at, token_at);
    outlook.newly_rate_limited = !rate_limited_;
  } else {
    outlook.offer = waiting.offer;
  }
  rate_limited_ = token_at.has_value();
  return outlook;
}

void Lane::look_for_load(Moment now, const WindowBounds& bounds, LaneOutlook& outlook) const {
  const std::optional<WallTime> at = load_ ? std::nullopt : window_->load_at(bounds);
  if (!at) {
    return;
  }
  if (*at > now.wall) {
    outlook.wake_at = earliest(outlook.wake_at, at);
  } else if (load_not_before_ > now.mono) {
    outlook.wake_mono_at = load_not_before_;
  } else {
    outlook.load = true;
  }
}

bool Lane::wants_load(Moment now, const WindowBounds& bounds) const {
  const bool open = !closed() && breaker_.retry_at(webhook_->breaker, now.wall) == now.wall;
  LaneOutlook outlook;
  if (open) {
    look_for_load(now, bounds, outlook);
  }
  return outlook.load;
}

std::vector<DeliveryId> Lane::in_flight_ids() const {
  std::vector<DeliveryId> ids;
  for (const auto& [id, entry] : entries_) {
    if (entry.place == Place::in_flight) {
      ids.push_back(id);
    }
  }
  std::ranges::sort(ids);
  return ids;
}

}  // namespace postrider
