#include "api/ui/negotiation.h"

#include <algorithm>
#include <vector>

#include "core/base/trim.h"
#include "core/net/header_rules.h"

namespace postrider::api {
namespace {

constexpr int weight_max = 1000;

/// Returns the text before the separator and removes it, with the separator, from `rest`.
std::string_view take(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view part = trim(rest.substr(0, end));
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

/// `0.5` in thousandths. Text that is not a weight counts as 0.
int parse_weight(std::string_view text) {
  if (text.empty() || text.size() > 5 || (text[0] != '0' && text[0] != '1') ||
      (text.size() > 1 && text[1] != '.')) {
    return 0;
  }
  int weight = (text[0] - '0') * weight_max;
  int unit = weight_max / 10;
  for (const char digit : text.substr(std::min<std::size_t>(2, text.size()))) {
    if (digit < '0' || digit > '9') {
      return 0;
    }
    weight += (digit - '0') * unit;
    unit /= 10;
  }
  return std::min(weight, weight_max);
}

struct Weighted {
  std::string_view name;
  int weight = weight_max;
};

std::vector<Weighted> parse_weighted(std::string_view header) {
  std::vector<Weighted> items;
  while (!header.empty()) {
    std::string_view parameters = take(header, ',');
    Weighted item{.name = take(parameters, ';')};
    while (!parameters.empty()) {
      const std::string_view parameter = take(parameters, ';');
      if (parameter.starts_with("q=") || parameter.starts_with("Q=")) {
        item.weight = parse_weight(parameter.substr(2));
      }
    }
    if (!item.name.empty()) {
      items.push_back(item);
    }
  }
  return items;
}

/// The weight of the first of `names` that is listed. nullopt: none is.
std::optional<int> weight_of(const std::vector<Weighted>& items,
                             std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const auto found = std::ranges::find_if(
        items, [&](const Weighted& item) { return same_header(item.name, name); });
    if (found != items.end()) {
      return found->weight;
    }
  }
  return std::nullopt;
}

}  // namespace

Coding choose_coding(std::optional<std::string_view> accept_encoding, Codings available) {
  const std::vector<Weighted> items = parse_weighted(accept_encoding.value_or(""));
  Coding best = Coding::identity;
  int weight = weight_of(items, {"identity"}).value_or(0);  // Unlisted: the last choice.
  const auto consider = [&](Coding coding, std::initializer_list<std::string_view> names) {
    const int wanted = weight_of(items, names).value_or(0);
    if (wanted > 0 && wanted >= weight) {
      best = coding;
      weight = wanted;
    }
  };
  if (available.gzip) {
    consider(Coding::gzip, {"gzip", "x-gzip", "*"});
  }
  if (available.brotli) {
    consider(Coding::brotli, {"br", "*"});
  }
  return best;
}

bool is_navigation(const HttpRequest& request) {
  if (request.method != "GET" && request.method != "HEAD") {
    return false;
  }
  // Browsers send it to servers with TLS or on their own machine.
  if (request.header("sec-fetch-mode").value_or("navigate") != "navigate") {
    return false;
  }
  const std::vector<Weighted> accepted = parse_weighted(request.header("accept").value_or(""));
  return weight_of(accepted, {"text/html", "text/*", "*/*"}).value_or(0) > 0;
}

bool matches_etag(std::string_view if_none_match, std::string_view etag) {
  while (!if_none_match.empty()) {
    std::string_view listed = take(if_none_match, ',');
    if (listed.starts_with("W/")) {
      listed.remove_prefix(2);
    }
    if (listed == etag || listed == "*") {
      return true;
    }
  }
  return false;
}

}  // namespace postrider::api
