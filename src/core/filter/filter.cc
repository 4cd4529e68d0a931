#include "core/filter/filter.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "core/json/json_cursor.h"
#include "core/json/json_string.h"

namespace postrider {
namespace filter {

bool holds(const Condition& condition, const std::vector<char>& facts) {
  if (!std::ranges::all_of(condition.facts, [&](Fact fact) { return facts[fact] != 0; })) {
    return false;
  }
  return std::ranges::all_of(condition.choices, [&](const std::vector<Condition>& choice) {
    return std::ranges::any_of(
        choice, [&](const Condition& alternative) { return holds(alternative, facts); });
  });
}

namespace {

// Recurses as deep as the event's JSON, at most json_depth_max.
class Matcher {
 public:
  explicit Matcher(const Plan& plan) : plan_(plan), facts_(plan.absent) {}

  void value_of(const Field& field, JsonCursor cursor) {
    Seen seen;
    visit(field, cursor, seen);
  }
  void text_of(const Field& field, std::string_view text) {
    Seen seen;
    try_leaves(field, Scalar::from_text(text), seen);
  }
  [[nodiscard]] bool result() const {
    return holds(plan_.levels.front().roots.front().condition, facts_);
  }

 private:
  // The kinds of values found so far in a field, including inside its arrays.
  struct Seen {
    bool scalar = false;
    bool object = false;
    LeafSet leaves = 0;  // The leaves that accept one of the scalars.
  };

  void visit(const Field& field, JsonCursor& cursor, Seen& seen) {
    switch (cursor.peek()) {
      case '{':
        visit_object(field, cursor, seen);
        break;
      case '[':
        cursor.enter();
        while (cursor.next_element()) {
          visit(field, cursor, seen);
        }
        break;
      default:
        visit_scalar(field, cursor, seen);
        break;
    }
  }

  void visit_scalar(const Field& field, JsonCursor& cursor, Seen& seen) {
    const std::string_view raw = cursor.take_scalar();
    const std::size_t count = field.leaves.size();
    const LeafSet all = count == leaves_max ? ~LeafSet{0} : leaf_bit(count) - 1;
    if (seen.leaves != all) {
      try_leaves(field, Scalar::from_json(raw), seen);
    }
  }

  void try_leaves(const Field& field, const Scalar& value, Seen& seen) {
    if (!seen.scalar) {  // Discards what an earlier member of the same name has set.
      std::ranges::for_each(field.leaves, [this](Fact fact) { facts_[fact] = 0; });
      seen.scalar = true;
    }
    const LeafSet found = field.index.find(value, seen.leaves) & ~seen.leaves;
    seen.leaves |= found;
    for (LeafSet rest = found; rest != 0; rest &= rest - 1) {
      facts_[field.leaves[static_cast<std::size_t>(std::countr_zero(rest))]] = 1;
    }
  }

  void visit_object(const Field& field, JsonCursor& cursor, Seen& seen) {
    if (field.level == 0) {
      cursor.skip_value();
      return;
    }
    const Level& level = plan_.levels[field.level];
    bool has_field = false;
    cursor.enter();
    while (const std::optional<std::string_view> key = cursor.next_key()) {
      if (const Field* inner = find(level, *key)) {
        if (!std::exchange(has_field, true)) {
          reset_facts(level);
        }
        visit_member(*inner, cursor);
      } else {
        cursor.skip_value();
      }
    }
    for (const Root& root : level.roots) {
      const bool already_true = seen.object && facts_[root.fact] != 0;
      facts_[root.fact] = already_true || holds_here(root, has_field) ? 1 : 0;
    }
    seen.object = true;
  }

  void visit_member(const Field& field, JsonCursor& cursor) {
    Seen seen;
    visit(field, cursor, seen);
  }

  // Discards the facts of the previous array element.
  void reset_facts(const Level& level) {
    std::ranges::for_each(level.facts, [this](Fact fact) { facts_[fact] = plan_.absent[fact]; });
  }

  [[nodiscard]] bool holds_here(const Root& root, bool has_field) const {
    return has_field ? holds(root.condition, facts_) : plan_.absent[root.fact] != 0;
  }

  [[nodiscard]] static const Field* find(const Level& level, std::string_view escaped_key) {
    std::string decoded;
    if (escaped_key.find('\\') != std::string_view::npos) {
      decoded = decode_json_content(escaped_key);
      escaped_key = decoded;
    }
    const auto found = std::ranges::find(level.fields, escaped_key, &Field::key);
    return found == level.fields.end() ? nullptr : &*found;
  }

  const Plan& plan_;
  std::vector<char> facts_;
};

void visit_event_field(const Field& field, const Event& event, Matcher& matcher) {
  const std::string_view key = field.key;
  if (key == "data" || key == "metadata") {
    matcher.value_of(field, JsonCursor{key == "data" ? event.data : event.metadata});
  } else if (key == "type") {
    matcher.text_of(field, event.type);
  } else if (key == "id") {
    matcher.text_of(field, event.id.to_string());
  } else if (key == "timestamp") {
    matcher.text_of(field, to_rfc3339(event.timestamp));
  } else if (key == "tenant_id" && !event.tenant_id.empty()) {
    matcher.text_of(field, event.tenant_id);
  } else if (key == "resource_id" && event.resource_id) {
    matcher.text_of(field, *event.resource_id);
  } else if (key == "source" && event.source) {
    matcher.text_of(field, *event.source);
  }
}

}  // namespace
}  // namespace filter

bool Filter::matches(const Event& event) const {
  filter::Matcher matcher{plan_};
  for (const filter::Field& field : plan_.levels.front().fields) {
    visit_event_field(field, event, matcher);
  }
  return matcher.result();
}

}  // namespace postrider
