#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/filter/filter.h"
#include "core/filter/filter_rule_reader.h"
#include "core/json/json_text.h"

namespace postrider {
namespace filter {
namespace {

constexpr std::array<std::string_view, 8> event_fields = {
    "id", "type", "timestamp", "tenant_id", "resource_id", "source", "metadata", "data"};

static_assert(filter_fields_max <= leaves_max);

constexpr std::string_view or_key = "$or";

std::string join_path(const std::string& path, std::string_view key) {
  return path.empty() ? std::string{key} : fmt::format("{}.{}", path, key);
}

/// Builds a plan from the top down. Uses indexes instead of references, because levels are added
/// while others are being filled. Recurses as deep as the pattern's JSON.
class PlanBuilder {
 public:
  [[nodiscard]] Read<Plan> build(std::string_view text) {
    plan_.levels.emplace_back();
    POSTRIDER_TRY(Condition condition, read_object(0, text, {}));
    plan_.levels.front().roots.push_back({std::move(condition), new_fact()});
    finish_fields();
    compute_absent_facts();
    return std::move(plan_);
  }

 private:
  [[nodiscard]] Fact new_fact() {
    plan_.absent.push_back(0);
    return plan_.absent.size() - 1;
  }

  [[nodiscard]] Field& field_of(std::size_t level, const std::string& key) {
    std::vector<Field>& fields = plan_.levels[level].fields;
    const auto found = std::ranges::find(fields, key, &Field::key);
    return found != fields.end() ? *found : fields.emplace_back(Field{.key = key});
  }

  [[nodiscard]] Read<Condition> read_object(std::size_t level, std::string_view raw,
                                            const std::string& path) {
    const Result<std::vector<JsonMember>> members = read_json_object(raw);
    if (!members) {
      return refuse(path, "must be an object. " + members.error().message);
    }
    if (members->empty()) {
      return refuse(path, "must have at least one field.");
    }
    Condition condition;
    for (const JsonMember& member : *members) {
      const std::string inner_path = join_path(path, member.key);
      if (member.key == or_key) {
        POSTRIDER_TRY(auto choice, read_choice(level, member.value, inner_path));
        condition.choices.push_back(std::move(choice));
        continue;
      }
      POSTRIDER_CHECK(check_field(level, member, inner_path));
      if (++fields_ > filter_fields_max) {
        return refuse(inner_path,
                      fmt::format("is one field too many. A filter may have at most {} fields.",
                                  filter_fields_max));
      }
      POSTRIDER_TRY(const Fact fact, member.value.starts_with('{')
                                         ? read_nested(level, member, inner_path)
                                         : read_leaf(level, member, inner_path));
      condition.facts.push_back(fact);
    }
    return condition;
  }

  [[nodiscard]] static Read<void> check_field(std::size_t level, const JsonMember& member,
                                              const std::string& path) {
    const bool is_object = member.value.starts_with('{');
    if (!is_object && !member.value.starts_with('[')) {
      return refuse(path,
                    R"(must be an array of values and rules, such as ["BTC"], or an object.)");
    }
    if (level != 0) {
      return {};
    }
    if (std::ranges::find(event_fields, member.key) == event_fields.end()) {
      return refuse(path, fmt::format("is not an event field. The fields are {}. The published "
                                      "payload is under data.",
                                      fmt::join(event_fields, ", ")));
    }
    if (is_object && member.key != "data" && member.key != "metadata") {
      return refuse(path, "is a string in every event. Use an array of values and rules.");
    }
    return {};
  }

  [[nodiscard]] Read<std::vector<Condition>> read_choice(std::size_t level, std::string_view raw,
                                                         const std::string& path) {
    const Result<std::vector<std::string_view>> items = read_json_array(raw);
    if (!items || items->size() < 2) {
      return refuse(path, "must be an array of at least two objects.");
    }
    std::vector<Condition> alternatives;
    for (std::size_t index = 0; index < items->size(); ++index) {
      POSTRIDER_TRY(Condition alternative,
                    read_object(level, (*items)[index], fmt::format("{}[{}]", path, index)));
      alternatives.push_back(std::move(alternative));
    }
    return alternatives;
  }

  [[nodiscard]] Read<Fact> read_nested(std::size_t level, const JsonMember& member,
                                       const std::string& path) {
    std::size_t inner = field_of(level, member.key).level;
    if (inner == 0) {
      inner = plan_.levels.size();
      plan_.levels.emplace_back();
      field_of(level, member.key).level = inner;
    }
    POSTRIDER_TRY(Condition condition, read_object(inner, member.value, path));
    const Fact fact = new_fact();
    plan_.levels[inner].roots.push_back({std::move(condition), fact});
    return fact;
  }

  [[nodiscard]] Read<Fact> read_leaf(std::size_t level, const JsonMember& member,
                                     const std::string& path) {
    const Result<std::vector<std::string_view>> items = read_json_array(member.value);
    if (!items || items->empty()) {
      return refuse(path, "must have at least one value or rule.");
    }
    const Fact fact = new_fact();
    LeafRules rules;
    OneOf values;
    for (std::size_t index = 0; index < items->size(); ++index) {
      const std::string_view item = (*items)[index];
      const std::string item_path = fmt::format("{}[{}]", path, index);
      if (item.starts_with('[')) {
        return refuse(item_path, "must be a value or a rule, not an array.");
      }
      if (!item.starts_with('{')) {
        values.add(Scalar::from_json(item));
        continue;
      }
      POSTRIDER_TRY(ReadRule read, rule_reader_.read(item, item_path));
      if (read.matches_absence) {
        plan_.absent[fact] = 1;
      } else {
        rules.push_back(std::move(read.rule));
      }
    }
    values.sort();
    rules.push_back({.tests = {std::move(values)}});
    field_of(level, member.key).leaves.push_back(fact);
    rules_[{level, member.key}].push_back(std::move(rules));
    return fact;
  }

  void finish_fields() {
    for (std::size_t index = 0; index < plan_.levels.size(); ++index) {
      Level& level = plan_.levels[index];
      std::size_t field_weight = 0;
      for (Field& field : level.fields) {
        field.index = ScalarIndex{rules_[{index, field.key}]};
        field_weight = std::max(field_weight, field.index.weight());
        add_facts(field, level);
      }
      plan_.weight = std::max(plan_.weight, 1 + field_weight + object_weight(level));
    }
  }

  void add_facts(const Field& field, Level& level) const {
    level.facts.insert(level.facts.end(), field.leaves.begin(), field.leaves.end());
    if (field.level == 0) {
      return;
    }
    for (const Root& root : plan_.levels[field.level].roots) {
      level.facts.push_back(root.fact);
    }
  }

  /// The weight of objects, which are searched for the fields, and whose conditions are evaluated.
  [[nodiscard]] static std::size_t object_weight(const Level& level) {
    constexpr std::size_t facts_per_unit = 8;
    return (level.facts.size() + level.fields.size()) / facts_per_unit;
  }

  // Evaluates the conditions of missing objects. Inner levels come after the enclosing level.
  void compute_absent_facts() {
    for (std::size_t index = plan_.levels.size(); index-- > 0;) {
      for (const Root& root : plan_.levels[index].roots) {
        plan_.absent[root.fact] = holds(root.condition, plan_.absent) ? 1 : 0;
      }
    }
  }

  Plan plan_;
  std::map<std::pair<std::size_t, std::string>, std::vector<LeafRules>> rules_;  // By field.
  RuleReader rule_reader_;
  std::size_t fields_ = 0;
};

}  // namespace
}  // namespace filter

tl::expected<Filter, FilterFault> Filter::parse(std::string_view json) {
  if (json.size() > filter_bytes_max) {
    return filter::refuse({}, fmt::format("must have at most {} bytes.", filter_bytes_max));
  }
  POSTRIDER_TRY(filter::Plan plan, filter::PlanBuilder{}.build(json));
  return Filter{json, std::move(plan)};
}

}  // namespace postrider
