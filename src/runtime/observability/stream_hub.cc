#include "runtime/observability/stream_hub.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/parse_number.h"
#include "core/filter/event_type_filter.h"

namespace postrider {
namespace {

template <class Value>
bool contains(const std::vector<Value>& wanted, const Value& value) {
  return wanted.empty() || std::ranges::find(wanted, value) != wanted.end();
}

}  // namespace

StreamEvent stream_events_of(const Settlement& settlement, TenantId tenant_id) {
  DeliveryUpdate about{.delivery = settlement.delivery, .dead = settlement.dead};
  WallTime at = settlement.delivery.due;
  if (settlement.attempt) {
    const Attempt& attempt = *settlement.attempt;
    about.attempt_number = attempt.number;
    about.failure = attempt.failure_category;
    about.http_status = attempt.outcome.http_status;
    about.duration = attempt.outcome.duration;
    at = attempt.outcome.executed_at;
  }
  return {.at = at,
          .webhook_id = settlement.delivery.webhook_id,
          .tenant_id = std::move(tenant_id),
          .what = std::move(about)};
}

bool admits(const StreamFilter& filter, const StreamEvent& stream_event) {
  if (filter.tenant_id && *filter.tenant_id != stream_event.tenant_id) {
    return false;
  }
  if (stream_event.webhook_id && !contains(filter.webhook_ids, *stream_event.webhook_id)) {
    return false;
  }
  if (const auto* created = std::get_if<DeliveriesCreated>(&stream_event.what)) {
    return contains(filter.states, DeliveryState::pending) &&
           admits_type(filter.event_types, created->event_type);
  }
  if (const auto* about = std::get_if<DeliveryUpdate>(&stream_event.what)) {
    return contains(filter.states, about->delivery.state) &&
           admits_type(filter.event_types, about->delivery.event_type);
  }
  return filter.states.empty() && filter.event_types.empty();
}

std::string to_string(const StreamPosition& position) {
  return fmt::format("{:x}-{}", position.epoch, position.sequence);
}

std::optional<StreamPosition> parse_stream_position(std::string_view text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) {
    return std::nullopt;
  }
  const auto epoch = parse_number<std::uint64_t>(text.substr(0, dash), 16);
  const auto sequence = parse_number<std::uint64_t>(text.substr(dash + 1), 10);
  return epoch && sequence ? std::optional{StreamPosition{*epoch, *sequence}} : std::nullopt;
}

struct StreamHub::Subscriber {
  StreamFilter filter;
  std::function<void()> wake;
  Batch waiting;
  bool woken = false;  // Since the last `take`.
};

class StreamHub::Handle final : public Subscription {
 public:
  Handle(StreamHub& hub, std::unique_ptr<Subscriber> subscriber)
      : hub_(hub), subscriber_(std::move(subscriber)) {}
  ~Handle() override { hub_.leave(*subscriber_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  Batch take() override { return hub_.take(*subscriber_); }

 private:
  StreamHub& hub_;
  std::unique_ptr<Subscriber> subscriber_;
};

void StreamHub::publish(StreamEvent stream_event) {
  if (!is_active()) {
    return;
  }
  const std::lock_guard lock{mutex_};
  if (subscribers_.empty()) {
    idle_since_ = idle_since_.value_or(stream_event.at);
    if (stream_event.at - *idle_since_ >= options_.recent_for) {
      // From here on events are not counted. The skipped sequence makes a later resume a reset.
      active_ = false;
      recent_.clear();
      ++last_sequence_;
      return;
    }
  }
  const Item item{{options_.epoch, ++last_sequence_},
                  std::make_shared<const StreamEvent>(std::move(stream_event))};
  recent_.push_back(item);
  if (recent_.size() > options_.recent_max) {
    recent_.pop_front();
  }
  for (Subscriber* subscriber : subscribers_) {
    enqueue(*subscriber, item);
  }
}

void StreamHub::enqueue(Subscriber& subscriber, const Item& item) {
  Batch& waiting = subscriber.waiting;
  if (waiting.dropped || !admits(subscriber.filter, *item.stream_event)) {
    return;
  }
  if (waiting.items.size() >= options_.queue_max) {
    waiting.dropped = true;
  } else {
    waiting.items.push_back(item);
  }
  if (!std::exchange(subscriber.woken, true)) {
    subscriber.wake();
  }
}

Result<std::unique_ptr<StreamHub::Subscription>> StreamHub::subscribe(
    StreamFilter filter, std::optional<StreamPosition> seen, std::function<void()> wake) {
  auto subscriber = std::make_unique<Subscriber>(Subscriber{
      .filter = std::move(filter), .wake = std::move(wake), .waiting = {}, .woken = false});
  const std::lock_guard lock{mutex_};
  if (subscribers_.size() >= options_.subscribers_max) {
    return fail(Errc::unavailable,
                fmt::format("All {} places for live streams are taken; close one or try again in "
                            "a moment.",
                            options_.subscribers_max));
  }
  resume(*subscriber, seen);
  subscribers_.push_back(subscriber.get());
  idle_since_.reset();
  active_ = true;
  return std::make_unique<Handle>(*this, std::move(subscriber));
}

void StreamHub::resume(Subscriber& subscriber, const std::optional<StreamPosition>& seen) {
  if (!seen) {
    return;
  }
  const std::uint64_t oldest =
      recent_.empty() ? last_sequence_ + 1 : recent_.front().position.sequence;
  const bool missed = seen->epoch != options_.epoch || seen->sequence + 1 < oldest ||
                      seen->sequence > last_sequence_ || !active_;
  if (missed) {
    subscriber.waiting.reset = true;
    return;
  }
  for (const Item& item : recent_) {
    if (item.position.sequence > seen->sequence && admits(subscriber.filter, *item.stream_event)) {
      subscriber.waiting.items.push_back(item);
    }
  }
}

void StreamHub::leave(Subscriber& subscriber) {
  const std::lock_guard lock{mutex_};
  std::erase(subscribers_, &subscriber);
}

StreamHub::Batch StreamHub::take(Subscriber& subscriber) {
  const std::lock_guard lock{mutex_};
  subscriber.woken = false;
  return std::exchange(subscriber.waiting, Batch{});
}

std::size_t StreamHub::subscribers() const {
  const std::lock_guard lock{mutex_};
  return subscribers_.size();
}

}  // namespace postrider
