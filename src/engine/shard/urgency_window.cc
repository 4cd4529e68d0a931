#include <algorithm>
#include <array>
#include <tuple>

#include "core/base/assert.h"
#include "core/base/earliest.h"
#include "engine/shard/window.h"

namespace postrider {
namespace {

// Each priority has two queues, first attempts and retries, so that the next first attempt is found
// without scanning retries.
constexpr std::size_t queues_per_priority = 2;

bool more_urgent(const Entry* a, const Entry* b) {
  return std::tie(a->ready_at, a->delivery.sequence, a->delivery.id) <
         std::tie(b->ready_at, b->delivery.sequence, b->delivery.id);
}

class UrgencyWindow final : public Window {
 public:
  [[nodiscard]] Entry* insert(Entry& entry, Arrival arrival, const WindowBounds& bounds) override;
  void drop(Entry& entry) override;
  void start(Entry& entry) override { drop(entry); }
  void end(const Entry&) override {}
  void adopt(const Entry&) override {}
  [[nodiscard]] std::vector<Entry*> forget_all() override;

  [[nodiscard]] WindowReadiness readiness(WallTime now) const override;
  [[nodiscard]] Entry* next(Priority priority, Candidates candidates, WallTime now) const override;
  [[nodiscard]] std::size_t count() const override { return count_; }

  void store_has_more(WallTime due) override;
  [[nodiscard]] std::optional<WallTime> rest_due() const override { return rest_due_; }
  [[nodiscard]] std::optional<WallTime> load_at(const WindowBounds& bounds) const override;
  [[nodiscard]] std::uint32_t begin_load(const WindowBounds& bounds) override;
  void end_load(const std::vector<Delivery>& rows, std::optional<WallTime> rest_due,
                std::uint32_t limit) override;

 private:
  /// Most urgent first. Small enough that shifting pointers is faster than a tree.
  using Queue = std::vector<Entry*>;

  [[nodiscard]] static std::size_t first_attempts_of(std::size_t priority) {
    return priority * queues_per_priority;
  }
  [[nodiscard]] static std::size_t retries_of(std::size_t priority) {
    return priority * queues_per_priority + 1;
  }
  [[nodiscard]] Queue& queue_of(const Entry& entry);
  [[nodiscard]] Entry* latest_of(std::size_t priority) const;
  [[nodiscard]] std::size_t most_crowded_priority() const;
  [[nodiscard]] Entry& least_urgent(WallTime now) const;
  [[nodiscard]] std::size_t count_due(WallTime now) const;

  std::array<Queue, priority_count * queues_per_priority> queues_;
  std::size_t count_ = 0;
  std::optional<WallTime> rest_due_;
  std::optional<WallTime> rest_due_since_load_;  // Set after the last load began.
};

UrgencyWindow::Queue& UrgencyWindow::queue_of(const Entry& entry) {
  const auto priority = static_cast<std::size_t>(entry.delivery.priority);
  return queues_[is_retry(entry.delivery) ? retries_of(priority) : first_attempts_of(priority)];
}

Entry* UrgencyWindow::insert(Entry& entry, Arrival, const WindowBounds& bounds) {
  if (entry.ready_at > later(bounds.now, bounds.load_ahead)) {
    store_has_more(entry.ready_at);
    return &entry;
  }
  Queue& queue = queue_of(entry);
  queue.insert(std::ranges::upper_bound(queue, &entry, more_urgent), &entry);
  ++count_;
  if (count_ <= bounds.count_max) {
    return nullptr;
  }
  Entry& evicted = least_urgent(bounds.now);
  drop(evicted);
  store_has_more(evicted.ready_at);
  return &evicted;
}

void UrgencyWindow::drop(Entry& entry) {
  Queue& queue = queue_of(entry);
  const auto found = std::ranges::lower_bound(queue, &entry, more_urgent);
  POSTRIDER_ASSERT(found != queue.end() && *found == &entry);
  queue.erase(found);
  --count_;
}

std::vector<Entry*> UrgencyWindow::forget_all() {
  std::vector<Entry*> forgotten;
  forgotten.reserve(count_);
  for (Queue& queue : queues_) {
    if (!queue.empty()) {
      store_has_more(queue.front()->ready_at);
      forgotten.insert(forgotten.end(), queue.begin(), queue.end());
      Queue{}.swap(queue);  // Also frees the memory: the lane may be idle for a day.
    }
  }
  count_ = 0;
  return forgotten;
}

/// The least urgent delivery of a priority; null if it has none.
Entry* UrgencyWindow::latest_of(std::size_t priority) const {
  Entry* latest = nullptr;
  for (const std::size_t number : {first_attempts_of(priority), retries_of(priority)}) {
    const Queue& queue = queues_[number];
    if (!queue.empty() && (!latest || more_urgent(latest, queue.back()))) {
      latest = queue.back();
    }
  }
  return latest;
}

/// The priority that exceeds its share the most; on a tie the lower one.
std::size_t UrgencyWindow::most_crowded_priority() const {
  std::size_t crowded = 0;
  std::size_t crowd = 0;
  for (std::size_t priority = 0; priority < priority_count; ++priority) {
    const std::size_t held =
        queues_[first_attempts_of(priority)].size() + queues_[retries_of(priority)].size();
    const auto weight = static_cast<std::size_t>(priority_weights[priority]);
    if (held * static_cast<std::size_t>(priority_weights[crowded]) >= crowd * weight && held > 0) {
      crowded = priority;
      crowd = held;
    }
  }
  return crowded;
}

/// The delivery to evict: the latest one that is not due yet. If all are due, the latest one of the
/// most crowded priority, so that no priority is kept out of memory forever.
Entry& UrgencyWindow::least_urgent(WallTime now) const {
  Entry* latest = nullptr;
  for (std::size_t priority = 0; priority < priority_count; ++priority) {
    Entry* candidate = latest_of(priority);
    if (candidate && (!latest || more_urgent(latest, candidate))) {
      latest = candidate;
    }
  }
  POSTRIDER_ASSERT(latest != nullptr);
  Entry* const evicted = latest->ready_at > now ? latest : latest_of(most_crowded_priority());
  POSTRIDER_ASSERT(evicted != nullptr);
  return *evicted;
}

WindowReadiness UrgencyWindow::readiness(WallTime now) const {
  WindowReadiness result;
  for (std::size_t number = 0; count_ > 0 && number < queues_.size(); ++number) {
    const Queue& queue = queues_[number];
    if (queue.empty()) {
      continue;
    }
    const std::size_t priority = number / queues_per_priority;
    if (queue.front()->ready_at > now) {
      result.next_due = earliest(result.next_due, std::optional{queue.front()->ready_at});
    } else if (number == first_attempts_of(priority)) {
      result.ready.all.set(priority);
      result.ready.first_attempts.set(priority);
    } else {
      result.ready.all.set(priority);
    }
  }
  return result;
}

Entry* UrgencyWindow::next(Priority priority, Candidates candidates, WallTime now) const {
  const Queue& first_attempts = queues_[first_attempts_of(static_cast<std::size_t>(priority))];
  const Queue& retries = queues_[retries_of(static_cast<std::size_t>(priority))];
  Entry* best = first_attempts.empty() ? nullptr : first_attempts.front();
  if (candidates == Candidates::all && !retries.empty() &&
      (!best || more_urgent(retries.front(), best))) {
    best = retries.front();
  }
  return best && best->ready_at <= now ? best : nullptr;
}

void UrgencyWindow::store_has_more(WallTime due) {
  rest_due_ = earliest(rest_due_, std::optional{due});
  rest_due_since_load_ = earliest(rest_due_since_load_, std::optional{due});
}

/// Compares due deliveries only: a window full of later retries must not keep due ones out.
std::optional<WallTime> UrgencyWindow::load_at(const WindowBounds& bounds) const {
  if (!rest_due_ || *rest_due_ > bounds.now) {
    return rest_due_;
  }
  const bool room = count_due(bounds.now) < (bounds.count_max + 1) / 2;
  return room ? std::optional{bounds.now} : std::nullopt;
}

std::size_t UrgencyWindow::count_due(WallTime now) const {
  std::size_t due = 0;
  for (const Queue& queue : queues_) {
    const auto end = std::ranges::upper_bound(queue, now, {}, &Entry::ready_at);
    due += static_cast<std::size_t>(end - queue.begin());
  }
  return due;
}

std::uint32_t UrgencyWindow::begin_load(const WindowBounds& bounds) {
  rest_due_since_load_.reset();
  return bounds.count_max;
}

void UrgencyWindow::end_load(const std::vector<Delivery>&, std::optional<WallTime> rest_due,
                             std::uint32_t) {
  rest_due_ = earliest(rest_due, rest_due_since_load_);
}

}  // namespace

std::unique_ptr<Window> make_urgency_window() { return std::make_unique<UrgencyWindow>(); }

}  // namespace postrider
