#include "engine/shard/lane.h"

#include <algorithm>
#include <utility>

#include "core/base/assert.h"
#include "core/base/earliest.h"
#include "core/policy/retry.h"

namespace postrider {
namespace {

// After an attempt that could not be started, for example because its payload is unreadable.
// Spread, so that attempts that were abandoned together are not started together again.
constexpr Millis abandoned_pause_min{500};
constexpr Millis abandoned_pause_max{1'500};
// After a failed load, to spare a store that is in trouble.
constexpr Millis load_failed_pause{1'000};
// After a load without new rows although the store has more: they may not be visible yet.
constexpr Millis load_empty_pause{100};
// Slow attempts are looked for at multiples of this, so that many lanes wake together.
constexpr Micros slow_check_step = std::chrono::milliseconds{250};

MonoTime slow_check_after(MonoTime started) {
  const Micros at = (started + slow_after).time_since_epoch();
  return MonoTime{(at / slow_check_step + 1) * slow_check_step};
}

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
  disabled_ = false;
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
    change_ordering(webhook_->ordering);
  }
}

void Lane::empty_bucket(MonoTime now) {
  if (bucket_) {
    bucket_->empty(now);
  }
}

/// Waiting deliveries are read again in the new order. Those in flight or unsettled count as
/// started in it.
void Lane::change_ordering(Ordering ordering) {
  forget_waiting();
  const std::optional<WallTime> rest_due = window_->rest_due();
  window_ = make_window(ordering);
  if (rest_due) {
    window_->store_has_more(*rest_due);
  }
  for (const auto& [id, entry] : entries_) {  // Only counted: any order.
    window_->adopt(entry);
  }
}

void Lane::remove() {
  removed_ = true;
  forget_waiting();
  for (auto& [id, entry] : entries_) {
    entry.cancelled = true;
    entry.revival.reset();
  }
}

void Lane::stop() {
  stopped_ = true;
  forget_waiting();
}

bool Lane::holds_slots_long(MonoTime at) const {
  return standing_.standing() == Standing::suspect ||
         std::ranges::any_of(entries_, [at](const auto& each) {
           return each.second.stage == EntryStage::in_flight && each.second.started < at;
         });
}

void Lane::forget_unsettled(std::vector<DeliveryId>& forgotten) {
  for (auto next = entries_.begin(); next != entries_.end();) {
    const auto each = next++;
    if (each->second.stage == EntryStage::unsettled) {
      --unsettled_count_;
      window_->end(each->second);
      forgotten.push_back(each->first);
      entries_.erase(each);
    }
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
  if (entry.stage != EntryStage::waiting) {
    if (delivery.revivals == entry.delivery.revivals) {
      return;  // Not revived: another server has handed over what was loaded before.
    }
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
  enqueue(entry, Arrival::returned, bounds);
}

void Lane::bring_forward(const std::vector<Delivery>& deliveries, const WindowBounds& bounds) {
  for (const Delivery& delivery : deliveries) {
    const auto found = entries_.find(delivery.id);
    if (found == entries_.end()) {
      window_->store_has_more(delivery.due);
      continue;
    }
    Entry& entry = found->second;
    const bool same = entry.stage == EntryStage::waiting &&
                      entry.delivery.attempt_count == delivery.attempt_count &&
                      entry.delivery.revivals == delivery.revivals;
    if (same && delivery.due < entry.delivery.due) {
      window_->drop(entry);
      --waiting_[static_cast<std::size_t>(entry.delivery.priority)];
      entry.delivery.due = delivery.due;
      entry.ready_at = delivery.due;
      enqueue(entry, Arrival::returned, bounds);
    }
  }
}

void Lane::reschedule(Delivery& unsettled, WallTime now) {
  Entry* entry = find(unsettled.id, EntryStage::unsettled);
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
  enqueue(added->second, arrival, bounds);
}

void Lane::enqueue(Entry& entry, Arrival arrival, const WindowBounds& bounds) {
  entry.stage = EntryStage::waiting;
  ++waiting_[static_cast<std::size_t>(entry.delivery.priority)];
  if (Entry* forgotten = window_->insert(entry, arrival, bounds)) {
    forget(*forgotten);
  }
}

/// Makes a delivery that was in flight or unsettled wait again.
void Lane::requeue(Entry& entry, const WindowBounds& bounds) {
  entry.stage = EntryStage::waiting;
  ++waiting_[static_cast<std::size_t>(entry.delivery.priority)];
  Entry* forgotten = window_->insert(entry, Arrival::returned, bounds);
  window_->end(entry);  // Before `forget` may erase the entry.
  if (forgotten) {
    forget(*forgotten);
  }
}

/// Removes a delivery from memory that is no longer in the window. The store still has it.
void Lane::forget(Entry& entry) {
  POSTRIDER_ASSERT(entry.stage == EntryStage::waiting);
  --waiting_[static_cast<std::size_t>(entry.delivery.priority)];
  const DeliveryId id = entry.delivery.id;
  entries_.erase(id);
}

void Lane::forget_waiting() {
  if (window_->count() == 0) {
    return;
  }
  for (Entry* entry : window_->forget_all()) {
    forget(*entry);
  }
  POSTRIDER_ASSERT(entries_.size() == in_flight_count_ + unsettled_count_);
}

LoadLane Lane::begin_load(const WindowBounds& bounds) {
  // In the store, deliveries in flight or unsettled still wait: they are read too, and skipped.
  const std::uint32_t limit = window_->begin_load(bounds) + in_flight_count_ + unsettled_count_;
  load_ = Load{.ordering = webhook_->ordering, .limit = limit};
  return LoadLane{.webhook_id = webhook_->id,
                  .ordering = webhook_->ordering,
                  .due_before = later(bounds.now, bounds.load_ahead),
                  .limit = limit};
}

void Lane::end_load(LaneLoaded page, const WindowBounds& bounds, MonoTime now) {
  const std::optional<Load> load = std::exchange(load_, std::nullopt);
  if (!load || load->ordering != webhook_->ordering) {
    return;  // Read in the old order: using it would leave gaps.
  }
  window_->end_load(page.deliveries, page.rest_due, load->limit);
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
  POSTRIDER_ASSERT(entry.stage == EntryStage::waiting);
  POSTRIDER_ASSERT(!closed() && !stopped_ && !slots_full());
  window_->start(entry);
  --waiting_[static_cast<std::size_t>(entry.delivery.priority)];
  entry.stage = EntryStage::in_flight;
  entry.host = host_;
  entry.origin = origin_;
  entry.unproven = !proven();
  entry.slow = false;
  entry.started = now;
  if (!slow_check_at_) {
    slow_check_at_ = slow_check_after(now);
  }
  ++in_flight_count_;
  const bool taken = !bucket_ || bucket_->try_take(now);
  POSTRIDER_ASSERT(taken);
}

void Lane::give_up(Entry& entry, const Delivery& is_now) {
  POSTRIDER_ASSERT(entry.stage == EntryStage::waiting);
  window_->start(entry);
  --waiting_[static_cast<std::size_t>(entry.delivery.priority)];
  entry.delivery = is_now;
  entry.stage = EntryStage::unsettled;
  ++unsettled_count_;
}

Entry* Lane::find(DeliveryId id, EntryStage stage) {
  const auto found = entries_.find(id);
  return found != entries_.end() && found->second.stage == stage ? &found->second : nullptr;
}

const Entry* Lane::in_flight(DeliveryId id) const {
  const auto found = entries_.find(id);
  return found != entries_.end() && found->second.stage == EntryStage::in_flight ? &found->second
                                                                                 : nullptr;
}

void Lane::finish(DeliveryId id, const Delivery& is_now, bool hung, MonoTime now) {
  Entry* entry = find(id, EntryStage::in_flight);
  POSTRIDER_ASSERT(entry != nullptr);
  standing_.on_ended({.began = entry->started, .hung = hung, .was_slow = entry->slow}, now,
                     max_in_flight());
  entry->delivery = is_now;
  entry->ready_at = is_now.due;
  entry->stage = EntryStage::unsettled;
  entry->schedule = schedule_;
  entry->revival.reset();  // `is_now` includes the revival.
  --in_flight_count_;
  ++unsettled_count_;
}

void Lane::abandon(DeliveryId id, double draw, const WindowBounds& bounds) {
  Entry* entry = find(id, EntryStage::in_flight);
  POSTRIDER_ASSERT(entry != nullptr);
  --in_flight_count_;
  if (entry->cancelled || stopped_) {
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
  const auto spread = static_cast<double>((abandoned_pause_max - abandoned_pause_min).count());
  const Millis pause = abandoned_pause_min + Millis{static_cast<Millis::rep>(spread * draw)};
  entry->ready_at = std::max(entry->delivery.due, later(bounds.now, pause));
  requeue(*entry, bounds);
}

void Lane::settle(DeliveryId id, const WindowBounds& bounds) {
  Entry* entry = find(id, EntryStage::unsettled);
  if (!entry) {
    return;
  }
  --unsettled_count_;
  if (!entry->cancelled && !entry->revival && !stopped_ && is_waiting(entry->delivery.state)) {
    requeue(*entry, bounds);
    return;
  }
  window_->end(*entry);
  const std::optional<Revival> revival = entry->revival;
  entries_.erase(id);
  if (revival) {
    // Only the store knows which came first, the revival or the settlement. The delivery may still
    // wait, and later ones must not overtake it: read all of them again (P4).
    forget_waiting();
    window_->store_has_more(revival->due);
  }
}

void Lane::cancel(DeliveryId id) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) {
    return;
  }
  Entry& entry = found->second;
  if (entry.stage == EntryStage::waiting) {
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

/// Returns true if an attempt has become slow. Each one counts once.
bool Lane::check_slow(MonoTime now) {
  if (!slow_check_at_ || *slow_check_at_ > now) {
    return false;
  }
  bool found = false;
  slow_check_at_.reset();
  for (auto& [id, entry] : entries_) {  // The result does not depend on the order.
    if (entry.stage != EntryStage::in_flight || entry.slow) {
      continue;
    }
    if (now - entry.started >= slow_after) {
      entry.slow = true;
      found = true;
      standing_.on_slow(entry.started, max_in_flight());
    } else {
      slow_check_at_ = earliest(slow_check_at_, std::optional{slow_check_after(entry.started)});
    }
  }
  return found && standing_.standing() == Standing::suspect;
}

LaneReadiness Lane::evaluate(Moment now, const WindowBounds& bounds) {
  LaneReadiness readiness;
  readiness.newly_slow = check_slow(now.mono);
  readiness.wake_mono_at = slow_check_at_;
  if (!removed_) {
    readiness.wake_at = breaker_.wakes_at(webhook_->breaker, now.wall);
  }
  if (closed() || stopped_) {
    forget_waiting();
    return readiness;
  }
  const std::optional<WallTime> circuit_at = breaker_.retry_at(webhook_->breaker, now.wall);
  if (!circuit_at) {
    return readiness;  // The lane is evaluated again when an attempt in flight ends.
  }
  if (*circuit_at > now.wall) {
    forget_waiting();
    return readiness;
  }
  check_load(now, bounds, readiness);
  if (slots_full()) {
    return readiness;
  }
  if (held_until_ > now.mono) {
    readiness.wake_mono_at = earliest(readiness.wake_mono_at, std::optional{held_until_});
    return readiness;
  }
  const WindowReadiness waiting = window_->readiness(now.wall);
  readiness.wake_at = earliest(readiness.wake_at, waiting.next_due);
  const std::optional<MonoTime> token_at =
      waiting.ready.all.any() ? rate_limited_until(now.mono) : std::nullopt;
  if (token_at) {
    readiness.wake_mono_at = earliest(readiness.wake_mono_at, token_at);
    readiness.newly_rate_limited = !rate_limited_;
  } else {
    readiness.ready = waiting.ready;
  }
  rate_limited_ = token_at.has_value();
  return readiness;
}

void Lane::check_load(Moment now, const WindowBounds& bounds, LaneReadiness& readiness) const {
  const std::optional<WallTime> at = load_ ? std::nullopt : window_->load_at(bounds);
  if (!at) {
    return;
  }
  if (*at > now.wall) {
    readiness.wake_at = earliest(readiness.wake_at, at);
  } else if (load_not_before_ > now.mono) {
    readiness.wake_mono_at = earliest(readiness.wake_mono_at, std::optional{load_not_before_});
  } else {
    readiness.load = true;
  }
}

bool Lane::needs_load(Moment now, const WindowBounds& bounds) const {
  const bool open =
      !closed() && !stopped_ && breaker_.retry_at(webhook_->breaker, now.wall) == now.wall;
  LaneReadiness readiness;
  if (open) {
    check_load(now, bounds, readiness);
  }
  return readiness.load;
}

std::uint32_t Lane::unproven_count() const {
  return static_cast<std::uint32_t>(std::ranges::count_if(entries_, [](const auto& each) {
    return each.second.stage == EntryStage::in_flight && each.second.unproven;
  }));
}

std::vector<DeliveryId> Lane::in_flight_ids() const {
  std::vector<DeliveryId> ids;
  for (const auto& [id, entry] : entries_) {
    if (entry.stage == EntryStage::in_flight) {
      ids.push_back(id);
    }
  }
  std::ranges::sort(ids);
  return ids;
}

}  // namespace postrider
