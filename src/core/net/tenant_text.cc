#include "core/net/tenant_text.h"

#include <algorithm>
#include <optional>

#include "core/net/address.h"

namespace postrider {
namespace {

constexpr std::string_view replacement = "an internal address";

bool is_address_char(char c) {
  return ('0' <= c && c <= '9') || ('a' <= c && c <= 'f') || ('A' <= c && c <= 'F') ||
         std::string_view{":./"}.find(c) != std::string_view::npos;
}

bool is_internal(std::string_view text) {
  const std::optional<Cidr> range = Cidr::parse(text);  // Also accepts a single address.
  return range && forbidden_address(range->network, AddressPolicy{}).has_value();
}

/// The length of an internal address at the start of `run`, or 0. Punctuation may follow it.
std::size_t internal_length(std::string_view run) {
  while (!run.empty()) {
    if (is_internal(run)) {
      return run.size();
    }
    if (std::string_view{":./"}.find(run.back()) == std::string_view::npos) {
      // A port may follow the address: `10.0.0.1:443`.
      const std::size_t colon = run.rfind(':');
      if (colon == std::string_view::npos || !is_internal(run.substr(0, colon))) {
        return 0;
      }
      return run.size();
    }
    run.remove_suffix(1);
  }
  return 0;
}

}  // namespace

std::string without_internal_addresses(std::string_view text) {
  if (const std::size_t blocked = text.find(blocked_address_text);
      blocked != std::string_view::npos) {
    text = text.substr(0, blocked + blocked_address_text.size());
    return without_internal_addresses(text.substr(0, blocked)) + std::string{blocked_address_text} +
           ".";
  }
  std::string out;
  while (!text.empty()) {
    const auto end = std::ranges::find_if_not(text, is_address_char);
    const auto run = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    const std::size_t length = internal_length(run);
    if (length > 0) {
      out += replacement;
      text.remove_prefix(length);
      continue;
    }
    // Copies the run and what follows it up to the next word.
    const auto word_end = std::ranges::find_if(end, text.end(), [](char c) {
      return std::string_view{" ([`\""}.find(c) != std::string_view::npos;
    });
    const std::size_t copied =
        std::min(static_cast<std::size_t>(word_end - text.begin()) + 1, text.size());
    out += text.substr(0, copied);
    text.remove_prefix(copied);
  }
  return out;
}

bool is_public_address(std::string_view text) {
  const std::optional<IpAddress> address = IpAddress::parse(text);
  return address && !forbidden_address(*address, AddressPolicy{});
}

}  // namespace postrider
