#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "core/base/assert.h"
#include "engine/shard/window.h"

namespace postrider {
namespace {

// With an order per event type, no type holds more than this part of the window: a type whose head
// fails for hours must leave room for the others.
constexpr std::uint32_t types_sharing_min = 8;

bool comes_before(const Entry* a, const Entry* b) {
  return std::tie(a->delivery.sequence, a->delivery.id) <
         std::tie(b->delivery.sequence, b->delivery.id);
}

/// Something the store may have beyond what is in memory. An answer to a load that began earlier
/// says nothing about what was left to the store since.
struct More {
  bool now = false;
  bool since_load = false;

  void note() { now = since_load = true; }
};

/// The waiting deliveries that must go one after the other. Always the first of those the store
/// has: a delivery is in memory only when all before it are in memory, in flight or unsettled (P4).
struct Line {
  std::vector<Entry*> waiting;  // By sequence.
  std::uint32_t busy = 0;       // In flight or unsettled: the line stands still.
  More more;

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

  [[nodiscard]] WindowOutlook outlook(WallTime now) const override;
  [[nodiscard]] Entry* next(Priority priority, Candidates candidates, WallTime now) const override;
  [[nodiscard]] std::size_t count() const override { return count_; }

  void store_has_more(WallTime due) override;
  [[nodiscard]] std::optional<WallTime> rest_due() const override { return rest_due_; }
  [[nodiscard]] std::optional<WallTime> load_at(const WindowBounds& bounds) const override;
  [[nodiscard]] std::uint32_t load_began(const WindowBounds& bounds) override;
  void load_ended(const std::vector<Delivery>& rows, std::optional<WallTime> rest_due,
                  std::uint32_t limit) override;

 private:
  using Lines = std::map<std::string, Line, std::less<>>;

  [[nodiscard]] std::string_view key_of(const Delivery& delivery) const;
  [[nodiscard]] Line& line_of(const Delivery& delivery);
  [[nodiscard]] bool may_enter(const Entry& entry) const;
  [[nodiscard]] std::uint32_t line_max(const WindowBounds& bounds) const;
  void refuse(const Entry& entry);
  void take_out(Line& line, Entry& entry);
  void fold(Lines::iterator line);
  [[nodiscard]] Lines::iterator longest_line();
  Entry* evict_last(Lines::iterator line);
  void note_rest(WallTime due);

  bool per_event_type_;
  Lines lines_;  // Those with something in memory, in flight or unsettled.
  std::size_t count_ = 0;
  More other_more_;  // The store may have deliveries of types that have no line.
  More dry_;         // Some line ran out although the store has more of it: load soon.
  std::optional<WallTime> rest_due_;  // Set while the store may have more at all.
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
  // What is not known of the types without a line is not known of this one either.
  Line& line = lines_[std::string{key}];
  line.more = other_more_;
  return line;
}

std::uint32_t OrderedWindow::line_max(const WindowBounds& bounds) const {
  return per_event_type_ ? std::max(bounds.count_max / types_sharing_min, 1u) : bounds.count_max;
}

/// Is everything before `entry` known here?
bool OrderedWindow::may_enter(const Entry& entry) const {
  const auto found = lines_.find(key_of(entry.delivery));
  if (found == lines_.end()) {
    return !other_more_.now;
  }
  const Line& line = found->second;
  return !line.more.now || (!line.waiting.empty() && comes_before(&entry, line.waiting.back()));
}

void OrderedWindow::refuse(const Entry& entry) {
  note_rest(entry.ready_at);
  if (const auto found = lines_.find(key_of(entry.delivery)); found != lines_.end()) {
    found->second.more.note();
  } else {
    other_more_.note();
    dry_.note();
  }
}

Entry* OrderedWindow::insert(Entry& entry, Arrival arrival, const WindowBounds& bounds) {
  if (arrival == Arrival::admitted && !may_enter(entry)) {
    refuse(entry);
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
  Entry* victim = line->second.waiting.back();
  note_rest(victim->ready_at);
  line->second.waiting.pop_back();
  --count_;
  line->second.more.note();
  if (line->second.idle()) {
    // Not dry: loading it again at once would only evict another. It comes when there is room.
    other_more_.note();
    lines_.erase(line);
  }
  return victim;
}

void OrderedWindow::take_out(Line& line, Entry& entry) {
  const auto found = std::ranges::lower_bound(line.waiting, &entry, comes_before);
  POSTRIDER_ASSERT(found != line.waiting.end() && *found == &entry);
  line.waiting.erase(found);
  --count_;
}

/// A line that has run out is only remembered by what the store may have of it.
void OrderedWindow::fold(Lines::iterator line) {
  if (!line->second.idle()) {
    return;
  }
  if (line->second.more.now) {
    other_more_.note();
    dry_.note();
  }
  lines_.erase(line);
}

void OrderedWindow::drop(Entry& entry) {
  const auto line = lines_.find(key_of(entry.delivery));
  POSTRIDER_ASSERT(line != lines_.end());
  take_out(line->second, entry);
  fold(line);
}

void OrderedWindow::start(Entry& entry) {
  Line& line = line_of(entry.delivery);
  POSTRIDER_ASSERT(line.busy == 0);
  POSTRIDER_ASSERT(!line.waiting.empty() && line.waiting.front() == &entry);
  take_out(line, entry);
  ++line.busy;
}

void OrderedWindow::end(const Entry& entry) {
  const auto line = lines_.find(key_of(entry.delivery));
  POSTRIDER_ASSERT(line != lines_.end() && line->second.busy > 0);
  --line->second.busy;
  fold(line);
}

std::vector<Entry*> OrderedWindow::forget_all() {
  std::vector<Entry*> forgotten;
  forgotten.reserve(count_);
  for (auto line = lines_.begin(); line != lines_.end();) {
    const auto current = line++;
    for (Entry* entry : current->second.waiting) {
      note_rest(entry->ready_at);
      current->second.more.note();
      forgotten.push_back(entry);
    }
    current->second.waiting.clear();
    fold(current);
  }
  count_ = 0;
  return forgotten;
}

WindowOutlook OrderedWindow::outlook(WallTime now) const {
  WindowOutlook result;
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
      result.offer.all.set(priority);
      result.offer.first_attempts[priority] =
          result.offer.first_attempts[priority] || !is_retry(head.delivery);
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
    line.more.note();
  }
  other_more_.note();
  dry_.note();
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
  const bool wanted =
      dry_.now || (room && (other_more_.now || std::ranges::any_of(lines_, is_short)));
  return wanted ? std::optional{std::max(*rest_due_, bounds.now)} : std::nullopt;
}

std::uint32_t OrderedWindow::load_began(const WindowBounds& bounds) {
  rest_due_since_load_.reset();
  other_more_.since_load = false;
  dry_.since_load = false;
  for (auto& [key, line] : lines_) {
    line.more.since_load = false;
  }
  return line_max(bounds);
}

void OrderedWindow::load_ended(const std::vector<Delivery>& rows, std::optional<WallTime> rest_due,
                               std::uint32_t limit) {
  rest_due_ = earliest(rest_due, rest_due_since_load_);
  other_more_.now = other_more_.since_load;
  dry_.now = dry_.since_load;
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
  // Whatever fills its limit may have more.
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
