#include "config/source_address.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace postrider::config {
namespace {

constexpr std::string_view hidden = "***";
constexpr std::size_t address_bytes_max = 4096;

constexpr std::array<std::array<std::string_view, 2>, 3> schemes = {{
    {"postgres://", "postgresql://"},
    {"redis://", "rediss://"},
    {"amqp://", "amqps://"},
}};

const std::array<std::string_view, 2>& schemes_for(SourceKind kind) {
  return schemes.at(static_cast<std::size_t>(kind));
}

/// The values of these parameters cannot be secret.
constexpr std::array<std::string_view, 4> shown_parameters = {"sslmode", "connect_timeout",
                                                              "application_name", "heartbeat"};

std::string shown_query(std::string_view query) {
  std::string out;
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(part.size() + 1, query.size()));
    const std::string_view name = part.substr(0, part.find('='));
    const bool is_shown = std::ranges::find(shown_parameters, name) != shown_parameters.end();
    out += out.empty() ? '?' : '&';
    out += is_shown ? std::string{part} : fmt::format("{}={}", name, hidden);
  }
  return out;
}

/// Redis takes the only part of `part@host` for a user or for a password, depending on the tool.
std::string shown_user(std::string_view scheme, std::string_view user) {
  const std::size_t colon = user.find(':');
  if (colon == std::string_view::npos) {
    return std::string{scheme.starts_with("redis") ? hidden : user} + "@";
  }
  return fmt::format("{}:{}@", user.substr(0, colon), hidden);
}

}  // namespace

// A password that is not escaped can contain any character, so everything before the last `@`
// counts as user and password.
std::string shown_address(std::string_view address) {
  const std::size_t scheme_end = address.find("://");
  if (scheme_end == std::string_view::npos) {
    return std::string{hidden};
  }
  const std::string_view scheme = address.substr(0, scheme_end + 3);
  std::string_view rest = address.substr(scheme.size());
  std::string out{scheme};
  if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) {
    out += shown_user(scheme, rest.substr(0, at));
    rest.remove_prefix(at + 1);
  }
  const std::size_t question = std::min(rest.find('?'), rest.size());
  out += rest.substr(0, question);
  return out + shown_query(rest.substr(std::min(question + 1, rest.size())));
}

bool is_source_address(SourceKind kind, std::string_view address) {
  const bool is_visible =
      std::ranges::all_of(address, [](char each) { return 0x21 <= each && each <= 0x7e; });
  return is_visible && address.size() <= address_bytes_max &&
         std::ranges::any_of(schemes_for(kind), [&](std::string_view scheme) {
           return address.starts_with(scheme) && address.size() > scheme.size();
         });
}

std::string schemes_of(SourceKind kind) {
  return fmt::format("{} or {}", schemes_for(kind)[0], schemes_for(kind)[1]);
}

}  // namespace postrider::config
