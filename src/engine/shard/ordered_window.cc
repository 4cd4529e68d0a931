#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "core/base/assert.h"
#include "core/base/earliest.h"
#include "engine/shard/window.h"

namespace postrider {
namespace {

// With an order per event type, one type gets at most an eighth of the window: a type whose first
// delivery fails for hours must leave room for the others.
constexpr std::uint32_t types_sharing_min = 8;

bool comes_before(const Entry* a, const Entry* b) {
  return std::tie(a->delivery.sequence, a->delivery.id) <
         std::tie(b->delivery.sequence, b->delivery.id);
}

/// Whether the store may have more deliveries than the window. The result of a load in progress
/// says nothing about deliveries that were left in the store after it began.
struct MoreInStore {
  bool now = false;
  bool since_load = false;

  void set() { now = since_load = true; }
};

/// Waiting deliveries that must be sent one after the other. A delivery is in memory only if all
/// deliveries before it are in memory, in flight or unsettled (P4).
struct Line {
  std::vector<Entry*> waiting;  // By sequence.
  std::uint32_t busy = 0;       // Deliveries in flight or unsettled. If any, nothing starts.
  MoreInStore more;

  [[nodiscard]] bool idle() const { return waiting.empty() && busy == 0; }
};

class OrderedWindow final : public Window {
 public:
  explicit OrderedWindow(bool per_event_type) : per_event_type_(per_event_type) {}

  [[nodiscard]] Entry* insert(Entry& entry, Arrival arrival, const WindowBounds& bounds) override;
  void drop(Entry& entry) override;
  void start(Entry& entry) override;
  void end(const Entry& entry) override;
  void adopt(const Entry& entry) override { ++line_of(entry.delivery).busy; }
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
  using Lines = std::map<std::string, Line, std::less<>>;

  [[nodiscard]] std::string_view key_of(const Delivery& delivery) const;
  [[nodiscard]] Line& line_of(const Delivery& delivery);
  [[nodiscard]] bool may_enter(const Entry& entry) const;
  [[nodiscard]] std::uint32_t line_max(const WindowBounds& bounds) const;
  void leave_in_store(const Entry& entry);
  void remove(Line& line, Entry& entry);
  void remove_if_idle(Lines::iterator line);
  [[nodiscard]] Lines::iterator longest_line();
  Entry* evict_last(Lines::iterator line);
  void note_rest(WallTime due);

  bool per_event_type_;
  Lines lines_;  // Lines with deliveries in memory, in flight or unsettled.
  std::size_t count_ = 0;
  MoreInStore other_more_;  // Of types without a line.
  MoreInStore starved_;     // A line ran empty although the store has more of it: load soon.
  std::optional<WallTime> rest_due_;  // Set if the store may have more.
  std::optional<WallTime> rest_due_since_load_;
};

std::string_view OrderedWindow::key_of(const Delivery& delivery) const {
  return per_event_type_ ? std::string_view{delivery.event_type} : std::string_view{};
}

Line& OrderedWindow::line_of(const Delivery& delivery) {
  const std::string_view key = key_of(delivery);
  if (const auto found = lines_.find(key); found != lines_.end()) {
    return found->second;
  }
  // The store may have more of this type if it may have more of any type without a line.
  Line& line = lines_[std::string{key}];
  line.more = other_more_;
  return line;
}

std::uint32_t OrderedWindow::line_max(const WindowBounds& bounds) const {
  return per_event_type_ ? std::max(bounds.count_max / types_sharing_min, 1u) : bounds.count_max;
}

/// Whether all deliveries before `entry` are in memory, in flight or unsettled.
bool OrderedWindow::may_enter(const Entry& entry) const {
  const auto found = lines_.find(key_of(entry.delivery));
  if (found == lines_.end()) {
    return !other_more_.now;
  }
  const Line& line = found->second;
  return !line.more.now || (!line.waiting.empty() && comes_before(&entry, line.waiting.back()));
}

/// Remembers a delivery that stays in the store.
void OrderedWindow::leave_in_store(const Entry& entry) {
  note_rest(entry.ready_at);
  if (const auto found = lines_.find(key_of(entry.delivery)); found != lines_.end()) {
    found->second.more.set();
  } else {
    other_more_.set();
    starved_.set();
  }
}

Entry* OrderedWindow::insert(Entry& entry, Arrival arrival, const WindowBounds& bounds) {
  if (arrival == Arrival::admitted && !may_enter(entry)) {
    leave_in_store(entry);
    return &entry;
  }
  Line& line = line_of(entry.delivery);
  line.waiting.insert(std::ranges::upper_bound(line.waiting, &entry, comes_before), &entry);
  ++count_;
  if (line.waiting.size() > line_max(bounds)) {
    return evict_last(lines_.find(key_of(entry.delivery)));
  }
  return count_ > bounds.count_max ? evict_last(longest_line()) : nullptr;
}

OrderedWindow::Lines::iterator OrderedWindow::longest_line() {
  auto longest = lines_.begin();
  for (auto line = lines_.begin(); line != lines_.end(); ++line) {
    const std::vector<Entry*>& waiting = line->second.waiting;
    const std::vector<Entry*>& best = longest->second.waiting;
    if (waiting.size() > best.size() || (waiting.size() == best.size() && !waiting.empty() &&
                                         comes_before(best.back(), waiting.back()))) {
      longest = line;
    }
  }
  return longest;
}

Entry* OrderedWindow::evict_last(Lines::iterator line) {
  POSTRIDER_ASSERT(!line->second.waiting.empty());
  Entry* evicted = line->second.waiting.back();
  note_rest(evicted->ready_at);
  line->second.waiting.pop_back();
  --count_;
  line->second.more.set();
  if (line->second.idle()) {
    // Not starved: loading it again at once would only evict another delivery.
    other_more_.set();
    lines_.erase(line);
  }
  return evicted;
}

void OrderedWindow::remove(Line& line, Entry& entry) {
  const auto found = std::ranges::lower_bound(line.waiting, &entry, comes_before);
  POSTRIDER_ASSERT(found != line.waiting.end() && *found == &entry);
  line.waiting.erase(found);
  --count_;
}

/// Removes an empty line. Only whether the store may have more of it is remembered.
void OrderedWindow::remove_if_idle(Lines::iterator line) {
  if (!line->second.idle()) {
    return;
  }
  if (line->second.more.now) {
    other_more_.set();
    starved_.set();
  }
  lines_.erase(line);
}

void OrderedWindow::drop(Entry& entry) {
  const auto line = lines_.find(key_of(entry.delivery));
  POSTRIDER_ASSERT(line != lines_.end());
  remove(line->second, entry);
  remove_if_idle(line);
}

void OrderedWindow::start(Entry& entry) {
  Line& line = line_of(entry.delivery);
  POSTRIDER_ASSERT(line.busy == 0);
  POSTRIDER_ASSERT(!line.waiting.empty() && line.waiting.front() == &entry);
  remove(line, entry);
  ++line.busy;
}

void OrderedWindow::end(const Entry& entry) {
  const auto line = lines_.find(key_of(entry.delivery));
  POSTRIDER_ASSERT(line != lines_.end() && line->second.busy > 0);
  --line->second.busy;
  remove_if_idle(line);
}

std::vector<Entry*> OrderedWindow::forget_all() {
  std::vector<Entry*> forgotten;
  forgotten.reserve(count_);
  for (auto line = lines_.begin(); line != lines_.end();) {
    const auto current = line++;
    for (Entry* entry : current->second.waiting) {
      note_rest(entry->ready_at);
      current->second.more.set();
      forgotten.push_back(entry);
    }
    current->second.waiting.clear();
    remove_if_idle(current);
  }
  count_ = 0;
  return forgotten;
}

WindowReadiness OrderedWindow::readiness(WallTime now) const {
  WindowReadiness result;
  for (const auto& [key, line] : lines_) {
    if (line.waiting.empty()) {
      continue;
    }
    const Entry& head = *line.waiting.front();
    const auto priority = static_cast<std::size_t>(head.delivery.priority);
    if (line.busy > 0) {
      result.held_by_order = true;
    } else if (head.ready_at > now) {
      result.next_due = earliest(result.next_due, std::optional{head.ready_at});
      result.held_by_order = result.held_by_order || line.waiting.size() > 1;
    } else {
      result.ready.all.set(priority);
      result.ready.first_attempts[priority] =
          result.ready.first_attempts[priority] || !is_retry(head.delivery);
    }
  }
  return result;
}

Entry* OrderedWindow::next(Priority priority, Candidates candidates, WallTime now) const {
  Entry* best = nullptr;
  for (const auto& [key, line] : lines_) {
    if (line.busy > 0 || line.waiting.empty()) {
      continue;
    }
    Entry* head = line.waiting.front();
    const bool fits = head->ready_at <= now && head->delivery.priority == priority &&
                      (candidates == Candidates::all || !is_retry(head->delivery));
    if (fits && (!best || std::tie(head->ready_at, head->delivery.sequence) <
                              std::tie(best->ready_at, best->delivery.sequence))) {
      best = head;
    }
  }
  return best;
}

void OrderedWindow::note_rest(WallTime due) {
  rest_due_ = earliest(rest_due_, std::optional{due});
  rest_due_since_load_ = earliest(rest_due_since_load_, std::optional{due});
}

void OrderedWindow::store_has_more(WallTime due) {
  note_rest(due);
  for (auto& [key, line] : lines_) {
    line.more.set();
  }
  other_more_.set();
  starved_.set();
}

std::optional<WallTime> OrderedWindow::load_at(const WindowBounds& bounds) const {
  if (!rest_due_) {
    return std::nullopt;
  }
  const std::size_t line_low = (line_max(bounds) + 1) / 2;
  const auto is_short = [&](const auto& line) {
    return line.second.more.now && line.second.waiting.size() < line_low;
  };
  const bool room = count_ < (bounds.count_max + 1) / 2;
  const bool needed =
      starved_.now || (room && (other_more_.now || std::ranges::any_of(lines_, is_short)));
  return needed ? std::optional{std::max(*rest_due_, bounds.now)} : std::nullopt;
}

std::uint32_t OrderedWindow::begin_load(const WindowBounds& bounds) {
  rest_due_since_load_.reset();
  other_more_.since_load = false;
  starved_.since_load = false;
  for (auto& [key, line] : lines_) {
    line.more.since_load = false;
  }
  return line_max(bounds);
}

void OrderedWindow::end_load(const std::vector<Delivery>& rows, std::optional<WallTime> rest_due,
                             std::uint32_t limit) {
  rest_due_ = earliest(rest_due, rest_due_since_load_);
  other_more_.now = other_more_.since_load;
  starved_.now = starved_.since_load;
  for (auto& [key, line] : lines_) {
    line.more.now = line.more.since_load;
  }
  if (!rest_due) {
    return;
  }
  std::map<std::string_view, std::uint32_t> rows_of;
  for (const Delivery& row : rows) {
    ++rows_of[key_of(row)];
  }
  // A line that filled its limit may have more.
  bool found = false;
  for (const Delivery& row : rows) {
    if (rows_of[key_of(row)] >= limit) {
      line_of(row).more.now = true;
      found = true;
    }
  }
  other_more_.now = other_more_.now || !found;
}

}  // namespace

std::unique_ptr<Window> make_ordered_window(Ordering ordering) {
  POSTRIDER_ASSERT(ordering != Ordering::none);
  return std::make_unique<OrderedWindow>(ordering == Ordering::per_event_type);
}

}  // namespace postrider
