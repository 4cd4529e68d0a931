#include <algorithm>
#include <array>
#include <tuple>

#include "core/assert.h"
#include "engine/window.h"

namespace postrider {
namespace {

constexpr std::size_t first_attempts = 0;
constexpr std::size_t retries = 1;

bool more_urgent(const Entry* a, const Entry* b) {
  return std::tie(a->ready_at, a->delivery.sequence, a->delivery.id) <
         std::tie(b->ready_at, b->delivery.sequence, b->delivery.id);
}

class UrgencyWindow final : public Window {
 public:
  Entry* insert(Entry& entry, Arrival arrival, const WindowBounds& bounds) override;
  void drop(Entry& entry) override;
  void start(Entry& entry) override { drop(entry); }
  void end(const Entry&) override {}
  void adopt(const Entry&) override {}
  std::vector<Entry*> forget_all() override;

  WindowOutlook outlook(WallTime now) const override;
  Entry* next(Priority priority, Candidates candidates, WallTime now) const override;
  std::size_t count() const override { return count_; }

  void store_has_more(WallTime due) override;
  std::optional<WallTime> rest_due() const override { return rest_due_; }
  std::optional<WallTime> load_at(const WindowBounds& bounds) const override;
  std::uint32_t load_began(const WindowBounds& bounds) override;
  void load_ended(const std::vector<Delivery>& rows, std::optional<WallTime> rest_due,
                  std::uint32_t limit) override;

 private:
  /// Most urgent first. Small, so that shifting pointers beats a tree.
  using Queue = std::vector<Entry*>;
  using Queues = std::array<Queue, 2>;  // First attempts and retries.

  [[nodiscard]] Queue& queue_of(const Entry& entry);
  [[nodiscard]] Entry& least_urgent(WallTime now) const;
  [[nodiscard]] std::size_t count_due(WallTime now) const;

  std::array<Queues, priority_count> queues_;
  std::size_t count_ = 0;
  std::optional<WallTime> rest_due_;
  std::optional<WallTime> rest_due_since_load_;  // The part of it that no answer can know of yet.
};

UrgencyWindow::Queue& UrgencyWindow::queue_of(const Entry& entry) {
  return queues_[static_cast<std::size_t>(entry.delivery.priority)]
                [is_retry(entry.delivery) ? retries : first_attempts];
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
  Entry& victim = least_urgent(bounds.now);
  drop(victim);
  store_has_more(victim.ready_at);
  return &victim;
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
  for (Queues& kinds : queues_) {
    for (Queue& queue : kinds) {
      if (!queue.empty()) {
        store_has_more(queue.front()->ready_at);
        forgotten.insert(forgotten.end(), queue.begin(), queue.end());
        Queue{}.swap(queue);  // Gives its memory back as well: the lane may sleep for a day.
      }
    }
  }
  count_ = 0;
  return forgotten;
}

/// What is not due yet gives way first, the latest before the others. When everything is due, the
/// priority that holds most beyond its share gives way, so that none is kept out of memory for
/// ever.
Entry& UrgencyWindow::least_urgent(WallTime now) const {
  Entry* latest = nullptr;
  std::array<Entry*, priority_count> latest_of{};
  std::size_t crowded = priority_count;
  std::size_t crowd = 0;
  for (std::size_t priority = priority_count; priority-- > 0;) {
    std::size_t held = 0;
    for (const Queue& queue : queues_[priority]) {
      held += queue.size();
      if (!queue.empty() &&
          (!latest_of[priority] || more_urgent(latest_of[priority], queue.back()))) {
        latest_of[priority] = queue.back();
      }
    }
    if (latest_of[priority] && (!latest || more_urgent(latest, latest_of[priority]))) {
      latest = latest_of[priority];
    }
    const auto weight = static_cast<std::size_t>(priority_weights[priority]);
    if (crowded == priority_count ||
        held * static_cast<std::size_t>(priority_weights[crowded]) > crowd * weight) {
      crowded = priority;
      crowd = held;
    }
  }
  POSTRIDER_ASSERT(latest != nullptr);
  return latest->ready_at > now ? *latest : *latest_of[crowded];
}

WindowOutlook UrgencyWindow::outlook(WallTime now) const {
  WindowOutlook result;
  if (count_ == 0) {
    return result;
  }
  for (std::size_t priority = 0; priority < priority_count; ++priority) {
    for (const std::size_t kind : {first_attempts, retries}) {
      const Queue& queue = queues_[priority][kind];
      if (queue.empty()) {
        continue;
      }
      if (queue.front()->ready_at <= now) {
        result.offer.all.set(priority);
        result.offer.first_attempts[priority] =
            result.offer.first_attempts[priority] || kind == first_attempts;
      } else {
        result.next_due = earliest(result.next_due, std::optional{queue.front()->ready_at});
      }
    }
  }
  return result;
}

Entry* UrgencyWindow::next(Priority priority, Candidates candidates, WallTime now) const {
  const Queues& kinds = queues_[static_cast<std::size_t>(priority)];
  Entry* best = kinds[first_attempts].empty() ? nullptr : kinds[first_attempts].front();
  if (candidates == Candidates::all && !kinds[retries].empty() &&
      (!best || more_urgent(kinds[retries].front(), best))) {
    best = kinds[retries].front();
  }
  return best && best->ready_at <= now ? best : nullptr;
}

void UrgencyWindow::store_has_more(WallTime due) {
  rest_due_ = earliest(rest_due_, std::optional{due});
  rest_due_since_load_ = earliest(rest_due_since_load_, std::optional{due});
}

/// Counts what is due, not what waits: a window full of later retries must not keep out what is
/// due.
std::optional<WallTime> UrgencyWindow::load_at(const WindowBounds& bounds) const {
  if (!rest_due_ || *rest_due_ > bounds.now) {
    return rest_due_;
  }
  const bool room = count_due(bounds.now) < (bounds.count_max + 1) / 2;
  return room ? std::optional{bounds.now} : std::nullopt;
}

std::size_t UrgencyWindow::count_due(WallTime now) const {
  std::size_t due = 0;
  for (const Queues& kinds : queues_) {
    for (const Queue& queue : kinds) {
      const auto end = std::ranges::upper_bound(queue, now, {}, &Entry::ready_at);
      due += static_cast<std::size_t>(end - queue.begin());
    }
  }
  return due;
}

std::uint32_t UrgencyWindow::load_began(const WindowBounds& bounds) {
  rest_due_since_load_.reset();
  return bounds.count_max;
}

void UrgencyWindow::load_ended(const std::vector<Delivery>&, std::optional<WallTime> rest_due,
                               std::uint32_t) {
  rest_due_ = earliest(rest_due, rest_due_since_load_);
}

}  // namespace

std::unique_ptr<Window> make_urgency_window() { return std::make_unique<UrgencyWindow>(); }

}  // namespace postrider
