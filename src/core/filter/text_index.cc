#include "core/filter/text_index.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "core/base/letter_case.h"

namespace postrider::filter {
namespace {

/// Whether the rule depends on nothing but the list of values.
bool is_plain(const Rule& rule) {
  return std::ranges::all_of(rule.tests, [](const Test& test) {
    return std::holds_alternative<AnyValue>(test) || std::holds_alternative<OneOf>(test) ||
           std::holds_alternative<NumberRange>(test);
  });
}

void add_texts(const Rule& rule, std::vector<std::string>& texts) {
  for (const Test& test : rule.tests) {
    if (const auto* const values = std::get_if<OneOf>(&test)) {
      texts.insert(texts.end(), values->texts.begin(), values->texts.end());
    }
  }
}

LeafSet plain_leaves(const std::vector<LeafRules>& leaves, const Scalar& value) {
  LeafSet accepting = 0;
  for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    const bool accepts = std::ranges::any_of(
        leaves[leaf], [&](const Rule& rule) { return is_plain(rule) && matches(rule, value); });
    accepting |= accepts ? leaf_bit(leaf) : 0;
  }
  return accepting;
}

}  // namespace

/// A string of an event while it is tested.
class TextIndex::Inspection {
 public:
  Inspection(std::string_view text, const WildcardSet& wildcards)
      : text_(text), wildcards_(wildcards) {}

  [[nodiscard]] bool matches(const TextRule& rule) {
    const bool any =
        std::ranges::any_of(rule.parts, [this](const Part& part) { return has(part); }) ||
        std::ranges::any_of(rule.ranges, [this](const Cidr& range) { return is_in(range); }) ||
        (rule.wildcards != 0 && (rule.wildcards & matched_wildcards()) != 0);
    return any != rule.anything_but;
  }

 private:
  [[nodiscard]] bool has(const Part& part) {
    if (part.text.size() > text_.size()) {
      return false;
    }
    const std::string_view text = part.ignore_case ? folded() : text_;
    switch (part.side) {
      case Side::start:
        return text.starts_with(part.text);
      case Side::end:
        return text.ends_with(part.text);
      case Side::whole:
        break;
    }
    return text == part.text;
  }

  [[nodiscard]] bool is_in(const Cidr& range) {
    if (!is_address_read_) {
      is_address_read_ = true;
      address_ = IpAddress::parse(text_);
    }
    return address_ && range.contains(*address_);
  }

  [[nodiscard]] std::uint64_t matched_wildcards() {
    if (!matched_) {
      matched_ = wildcards_.match(text_);
    }
    return *matched_;
  }

  [[nodiscard]] std::string_view folded() {
    if (!folded_) {
      folded_ = fold_case(text_);
    }
    return *folded_;
  }

  std::string_view text_;
  const WildcardSet& wildcards_;
  std::optional<std::string> folded_;
  std::optional<std::uint64_t> matched_;
  std::optional<IpAddress> address_;
  bool is_address_read_ = false;
};

TextIndex::TextIndex(const std::vector<LeafRules>& leaves) {
  add_values(leaves);
  std::vector<Wildcard> wildcards;
  for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    for (const Rule& rule : leaves[leaf]) {
      if (!is_plain(rule)) {
        add_rule(rule, leaf_bit(leaf), wildcards);
      }
    }
  }
  wildcards_ = WildcardSet{wildcards};
}

void TextIndex::add_values(const std::vector<LeafRules>& leaves) {
  std::vector<std::string> texts;
  for (const LeafRules& rules : leaves) {
    std::ranges::for_each(rules, [&texts](const Rule& rule) { add_texts(rule, texts); });
  }
  std::ranges::sort(texts);
  const auto rest = std::ranges::unique(texts);
  texts.erase(rest.begin(), rest.end());
  // Any text that is not a value: it is longer than the last one.
  const std::string other = texts.empty() ? std::string{} : texts.back() + "x";
  other_ = plain_leaves(leaves, Scalar::from_text(other));
  values_.reserve(texts.size());
  for (std::string& text : texts) {
    const LeafSet accepting = plain_leaves(leaves, Scalar::from_text(text));
    values_.push_back({std::move(text), accepting});
  }
}

void TextIndex::add_rule(const Rule& rule, LeafSet leaf, std::vector<Wildcard>& wildcards) {
  TextRule& added = rules_.emplace_back(TextRule{.leaf = leaf, .anything_but = rule.anything_but});
  const auto add_part = [&added](const std::string& text, Side side, bool ignore_case) {
    added.parts.push_back({ignore_case ? fold_case(text) : text, side, ignore_case});
  };
  for (const Test& test : rule.tests) {
    if (const auto* const prefix = std::get_if<TextPrefix>(&test)) {
      add_part(prefix->text, Side::start, prefix->ignore_case);
    } else if (const auto* const suffix = std::get_if<TextSuffix>(&test)) {
      add_part(suffix->text, Side::end, suffix->ignore_case);
    } else if (const auto* const whole = std::get_if<TextIgnoringCase>(&test)) {
      add_part(whole->text, Side::whole, true);
    } else if (const auto* const range = std::get_if<Cidr>(&test)) {
      added.ranges.push_back(*range);
    } else if (const auto* const wildcard = std::get_if<Wildcard>(&test)) {
      added.wildcards |= std::uint64_t{1} << wildcards.size();
      wildcards.push_back(*wildcard);
    }
  }
}

LeafSet TextIndex::find_value(std::string_view text) const {
  const auto found = std::ranges::lower_bound(values_, text, {}, &Value::text);
  return found != values_.end() && found->text == text ? found->leaves : other_;
}

LeafSet TextIndex::find(std::string_view text, LeafSet known) const {
  LeafSet found = find_value(text);
  Inspection inspection{text, wildcards_};
  for (const TextRule& rule : rules_) {
    if (((found | known) & rule.leaf) == 0 && inspection.matches(rule)) {
      found |= rule.leaf;
    }
  }
  return found;
}

std::size_t TextIndex::test_count() const {
  std::size_t count = 0;
  for (const TextRule& rule : rules_) {
    count += 1 + rule.parts.size() + rule.ranges.size();
  }
  return count;
}

}  // namespace postrider::filter
