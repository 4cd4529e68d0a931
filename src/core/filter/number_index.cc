#include "core/filter/number_index.h"

#include <algorithm>
#include <optional>
#include <variant>

namespace postrider::filter {

NumberIndex::NumberIndex(const std::vector<LeafRules>& leaves) {
  for (const LeafRules& rules : leaves) {
    std::ranges::for_each(rules, [this](const Rule& rule) { add_points(rule); });
  }
  sort_points();
  leaves_.assign(2 * points_.size() + 1, 0);
  for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    for (const Rule& rule : leaves[leaf]) {
      const std::vector<char> accepted = accepted_places(rule);
      for (Place place = 0; place < accepted.size(); ++place) {
        leaves_[place] |= accepted[place] != 0 ? leaf_bit(leaf) : 0;
      }
    }
  }
}

void NumberIndex::add_points(const Rule& rule) {
  const auto add = [this](const std::string& number) {
    points_.push_back({number, key_of_json_number(number)});
  };
  const auto add_bound = [&add](const std::optional<NumberBound>& bound) {
    if (bound) {
      add(bound->number);
    }
  };
  for (const Test& test : rule.tests) {
    if (const auto* const values = std::get_if<OneOf>(&test)) {
      std::ranges::for_each(values->numbers, add);
    } else if (const auto* const range = std::get_if<NumberRange>(&test)) {
      add_bound(range->low);
      add_bound(range->high);
    }
  }
}

void NumberIndex::sort_points() {
  const auto order = [](const Point& a, const Point& b) {
    return compare_json_numbers({a.number, a.key}, {b.number, b.key});
  };
  std::ranges::sort(points_, [&](const Point& a, const Point& b) { return order(a, b) < 0; });
  const auto rest = std::ranges::unique(
      points_, [&](const Point& a, const Point& b) { return order(a, b) == 0; });
  points_.erase(rest.begin(), rest.end());
  points_.shrink_to_fit();
}

NumberIndex::Place NumberIndex::place_of(std::string_view number) const {
  if (points_.empty()) {
    return 0;
  }
  const KeyedJsonNumber wanted{number, key_of_json_number(number)};
  std::size_t first = 0;
  std::size_t last = points_.size();
  while (first < last) {
    const std::size_t middle = first + (last - first) / 2;
    const auto order = compare_json_numbers({points_[middle].number, points_[middle].key}, wanted);
    if (order == 0) {
      return 2 * middle + 1;
    }
    (order < 0 ? first : last) = order < 0 ? middle + 1 : middle;
  }
  return 2 * first;
}

std::vector<char> NumberIndex::accepted_places(const Rule& rule) const {
  std::vector<char> accepted(leaves_.size(), 0);
  for (const Test& test : rule.tests) {
    accept(test, accepted);
  }
  if (rule.anything_but) {
    std::ranges::for_each(accepted, [](char& each) { each = each != 0 ? 0 : 1; });
  }
  return accepted;
}

void NumberIndex::accept(const Test& test, std::vector<char>& accepted) const {
  if (std::holds_alternative<AnyValue>(test)) {
    std::ranges::fill(accepted, 1);
  } else if (const auto* const values = std::get_if<OneOf>(&test)) {
    for (const std::string& number : values->numbers) {
      accepted[place_of(number)] = 1;
    }
  } else if (const auto* const range = std::get_if<NumberRange>(&test)) {
    accept_range(*range, accepted);
  }
}

void NumberIndex::accept_range(const NumberRange& range, std::vector<char>& accepted) const {
  Place first = 0;
  Place end = accepted.size();
  if (range.low) {
    first = place_of(range.low->number) + (range.low->inclusive ? 0 : 1);
  }
  if (range.high) {
    end = place_of(range.high->number) + (range.high->inclusive ? 1 : 0);
  }
  for (Place place = first; place < end; ++place) {
    accepted[place] = 1;
  }
}

LeafSet NumberIndex::find(std::string_view number) const {
  return leaves_.empty() ? 0 : leaves_[place_of(number)];
}

}  // namespace postrider::filter
