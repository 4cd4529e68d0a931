#include "core/filter/filter_rules.h"

#include <algorithm>

#include "core/base/decimal.h"
#include "core/base/letter_case.h"
#include "core/json/json_text.h"

namespace postrider::filter {
namespace {

bool is_below(const std::string& a, std::string_view b) { return compare_json_numbers(a, b) < 0; }

bool same_text(std::string_view text, std::string_view wanted, bool ignore_case) {
  return ignore_case ? equals_ignoring_case(text, wanted) : text == wanted;
}

/// Visits a Test, one overload per kind. Most kinds match only strings.
class TestVisitor {
 public:
  explicit TestVisitor(const Scalar& value) : kind_(value.kind()), text_(value.text()) {}

  bool operator()(const AnyValue&) const { return true; }
  bool operator()(const OneOf& values) const {
    switch (kind_) {
      case Scalar::Kind::string:
        return std::ranges::binary_search(values.texts, text_);
      case Scalar::Kind::number: {
        const auto found =
            std::lower_bound(values.numbers.begin(), values.numbers.end(), text_, is_below);
        return found != values.numbers.end() && compare_json_numbers(*found, text_) == 0;
      }
      case Scalar::Kind::literal:
        break;
    }
    return std::ranges::find(values.literals, text_) != values.literals.end();
  }
  bool operator()(const NumberRange& range) const {
    if (kind_ != Scalar::Kind::number) {
      return false;
    }
    if (range.low) {
      const auto order = compare_json_numbers(text_, range.low->number);
      if (order < 0 || (order == 0 && !range.low->inclusive)) {
        return false;
      }
    }
    if (range.high) {
      const auto order = compare_json_numbers(text_, range.high->number);
      return order < 0 || (order == 0 && range.high->inclusive);
    }
    return true;
  }
  bool operator()(const TextIgnoringCase& wanted) const {
    return is_string() && equals_ignoring_case(text_, wanted.text);
  }
  bool operator()(const TextPrefix& prefix) const {
    const std::size_t size = prefix.text.size();
    return is_string() && text_.size() >= size &&
           same_text(text_.substr(0, size), prefix.text, prefix.ignore_case);
  }
  bool operator()(const TextSuffix& suffix) const {
    const std::size_t size = suffix.text.size();
    return is_string() && text_.size() >= size &&
           same_text(text_.substr(text_.size() - size), suffix.text, suffix.ignore_case);
  }
  bool operator()(const Wildcard& wildcard) const { return is_string() && wildcard.matches(text_); }
  bool operator()(const Cidr& range) const {
    const std::optional<IpAddress> address =
        is_string() ? IpAddress::parse(text_) : std::optional<IpAddress>{};
    return address && range.contains(*address);
  }

 private:
  [[nodiscard]] bool is_string() const { return kind_ == Scalar::Kind::string; }

  Scalar::Kind kind_;
  std::string_view text_;
};

}  // namespace

Scalar Scalar::from_json(std::string_view raw) {
  if (raw.size() < 2 || raw.front() != '"') {
    const bool is_number =
        !raw.empty() && (raw.front() == '-' || (raw.front() >= '0' && raw.front() <= '9'));
    return Scalar{is_number ? Kind::number : Kind::literal, raw};
  }
  const std::string_view content = raw.substr(1, raw.size() - 2);
  Scalar scalar{Kind::string, content};
  if (content.find('\\') != std::string_view::npos) {
    scalar.decoded_ = decode_json_string(raw);
  }
  return scalar;
}

void OneOf::add(const Scalar& value) {
  std::vector<std::string>& values = value.kind() == Scalar::Kind::string   ? texts
                                     : value.kind() == Scalar::Kind::number ? numbers
                                                                            : literals;
  values.emplace_back(value.text());
}

void OneOf::sort() {
  std::ranges::sort(texts);
  std::ranges::sort(numbers, is_below);
}

bool matches(const Rule& rule, const Scalar& value) {
  const TestVisitor visitor{value};
  const bool any =
      std::ranges::any_of(rule.tests, [&](const Test& test) { return std::visit(visitor, test); });
  return any != rule.anything_but;
}

}  // namespace postrider::filter
