#include "config/frame_ancestors.h"

#include <algorithm>
#include <string_view>

#include "core/base/parse_number.h"
#include "core/net/address.h"

namespace postrider::config {
namespace {

constexpr std::size_t host_length_max = 253;

bool is_label(std::string_view label) {
  const auto fits = [](char c) {
    return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '-';
  };
  return !label.empty() && std::ranges::all_of(label, fits);
}

bool is_host(std::string_view host) {
  if (host.size() > host_length_max) {
    return false;
  }
  while (true) {
    const std::size_t dot = host.find('.');
    if (!is_label(host.substr(0, dot))) {
      return false;
    }
    if (dot == std::string_view::npos) {
      return true;
    }
    host.remove_prefix(dot + 1);
  }
}

bool is_port(std::string_view text) { return parse_number<std::uint16_t>(text).value_or(0) > 0; }

bool is_loopback_name(std::string_view host) {
  const bool is_v4 = IpAddress::parse(host).has_value();
  return host == "localhost" || (is_v4 && host.starts_with("127."));
}

bool is_origin(std::string_view text) {
  constexpr std::string_view plain = "http://";
  constexpr std::string_view secure = "https://";
  const bool is_plain = text.starts_with(plain);
  if (!is_plain && !text.starts_with(secure)) {
    return false;
  }
  text.remove_prefix(is_plain ? plain.size() : secure.size());
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos && !is_port(text.substr(colon + 1))) {
    return false;
  }
  std::string_view host = text.substr(0, colon);
  if (is_plain) {
    return is_loopback_name(host);
  }
  if (host.starts_with("*.")) {
    host.remove_prefix(2);
  }
  return is_host(host);
}

std::string unquoted(const std::string& text) {
  const bool is_quoted = text.size() > 2 && text.front() == '\'' && text.back() == '\'';
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

}  // namespace

std::optional<std::vector<std::string>> read_frame_ancestors(
    const std::vector<std::string>& given) {
  std::vector<std::string> read;
  for (const std::string& entry : given) {
    const std::string word = unquoted(entry);
    const bool is_word = word == "self" || (word == "none" && given.size() == 1);
    if (!is_word && !is_origin(entry)) {
      return std::nullopt;
    }
    read.push_back(is_word ? word : entry);
  }
  if (read.empty()) {
    read.emplace_back("none");
  }
  return read.size() <= frame_ancestors_max ? std::optional{std::move(read)} : std::nullopt;
}

}  // namespace postrider::config
