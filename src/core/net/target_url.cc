#include "core/net/target_url.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/parse_number.h"

namespace postrider {
namespace {

constexpr std::size_t host_length_max = 253;  // RFC 1035, without the trailing dot.
constexpr std::size_t label_length_max = 63;

constexpr std::uint16_t port_https = 443;
constexpr std::uint16_t port_http = 80;
constexpr std::uint16_t port_unprivileged_min = 1024;

// Ports of databases, caches, brokers and control planes, which are not webhook receivers.
constexpr std::array<std::uint16_t, 29> ports_denied = {
    1433, 1521, 2049, 2181, 2375, 2376, 2379, 2380, 3306,  3389,  4369,  5432,  5671,  5672, 5900,
    5984, 6379, 6443, 8500, 9042, 9092, 9200, 9300, 10250, 10255, 11211, 15672, 27017, 27018};

constexpr std::array<std::string_view, 3> internal_suffixes = {".localhost", ".local", ".internal"};

constexpr bool is_digit(char character) { return character >= '0' && character <= '9'; }
constexpr bool is_lower(char character) { return character >= 'a' && character <= 'z'; }

constexpr bool is_hex(char character) {
  return is_digit(character) || ((character | 0x20) >= 'a' && (character | 0x20) <= 'f');
}

// Unlike std::tolower, independent of the locale.
std::string to_lower(std::string_view text) {
  std::string lower{text};
  for (char& character : lower) {
    if (character >= 'A' && character <= 'Z') {
      character = static_cast<char>(character | 0x20);
    }
  }
  return lower;
}

tl::unexpected<Error> refuse(std::string sentence) {
  return fail(Errc::invalid, std::move(sentence));
}

Result<void> check_characters(std::string_view text) {
  constexpr std::string_view unwise = "\"<>^`{|}";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte >= 0x80) {
      return refuse(
          "The URL must be ASCII. Write an international host name in punycode (xn--) and "
          "percent-encode the rest.");
    }
    if (byte < 0x20 || byte == 0x7f) {
      return refuse("The URL must not contain control characters.");
    }
    if (byte == ' ') {
      return refuse("The URL must not contain spaces. Percent-encode them as %20.");
    }
    if (byte == '\\') {
      return refuse("The URL must not contain a backslash.");
    }
    if (byte == '#') {
      return refuse("The URL must not have a fragment (#).");
    }
    if (unwise.find(text[i]) != std::string_view::npos) {
      return refuse(fmt::format("The URL must not contain {}. Percent-encode it.", text[i]));
    }
    if (byte == '%' && (i + 2 >= text.size() || !is_hex(text[i + 1]) || !is_hex(text[i + 2]))) {
      return refuse("A % in the URL must be followed by two hexadecimal digits.");
    }
  }
  return {};
}

// True if browsers or C libraries treat a host with this last label as a numeric address.
bool is_numeric_label(std::string_view label) {
  if (label.starts_with("0x")) {
    return std::ranges::all_of(label.substr(2), is_hex);
  }
  return std::ranges::all_of(label, is_digit);
}

Result<void> check_label(std::string_view label) {
  if (label.empty()) {
    return refuse("The URL's host must not have an empty part between dots.");
  }
  if (label.size() > label_length_max) {
    return refuse(
        fmt::format("A part of the URL's host is longer than {} characters.", label_length_max));
  }
  const auto allowed = [](char character) {
    return is_lower(character) || is_digit(character) || character == '-' || character == '_';
  };
  if (!std::ranges::all_of(label, allowed)) {
    return refuse("The URL's host may contain only letters, digits, - and _.");
  }
  if (label.starts_with('-') || label.ends_with('-')) {
    return refuse("A part of the URL's host must not start or end with a hyphen.");
  }
  return {};
}

bool is_internal_name(std::string_view host) {
  const bool is_single_label = host.find('.') == std::string_view::npos;
  const auto ends_host = [host](std::string_view suffix) { return host.ends_with(suffix); };
  return is_single_label || std::ranges::any_of(internal_suffixes, ends_host);
}

// `host` is lower case and has no trailing dot.
Result<void> check_name(std::string_view host, const AddressPolicy& policy) {
  std::string_view rest = host;
  for (;;) {
    const std::size_t dot = rest.find('.');
    POSTRIDER_CHECK(check_label(rest.substr(0, dot)));
    if (dot == std::string_view::npos) {
      break;
    }
    rest.remove_prefix(dot + 1);
  }
  if (is_numeric_label(rest)) {
    return refuse(
        "The URL's host looks like an IPv4 address but is malformed. Use four decimal numbers "
        "without leading zeros.");
  }
  if (is_internal_name(host) && !policy.allow_private && policy.allowed.empty()) {
    return refuse(
        fmt::format("The URL's host {} is an internal name (localhost, a single word, "
                    ".localhost, .local or .internal).",
                    host));
  }
  return {};
}

// `text` is a name or a dotted quad, without userinfo, port and brackets.
Result<void> read_name_or_v4(std::string_view text, const AddressPolicy& policy, TargetUrl& url) {
  if (text.find('%') != std::string_view::npos) {
    return refuse("The URL's host must not be percent-encoded.");
  }
  url.host = to_lower(text);
  if (url.host.ends_with('.')) {
    url.host.pop_back();
  }
  if (url.host.empty()) {
    return refuse("The URL has no host.");
  }
  if (url.host.size() > host_length_max) {
    return refuse(fmt::format("The URL's host is longer than {} characters.", host_length_max));
  }
  url.address = IpAddress::parse(url.host);
  return url.address ? Result<void>{} : check_name(url.host, policy);
}

// `text` is the part between the brackets.
Result<void> read_v6(std::string_view text, TargetUrl& url) {
  if (text.find('%') != std::string_view::npos) {
    return refuse("The URL's IPv6 address must not have a zone (%).");
  }
  url.address = IpAddress::parse(text);
  if (!url.address || !url.address->is_v6) {
    return refuse("The URL's host is in brackets but is not an IPv6 address.");
  }
  url.host = url.address->to_string();
  return {};
}

Result<std::uint16_t> read_port(std::string_view text, const AddressPolicy& policy) {
  const auto parsed = parse_number<std::uint16_t>(text);
  if (!parsed || text.front() == '0') {
    return refuse("The URL's port must be a number from 1 to 65535 without leading zeros.");
  }
  const std::uint16_t port = *parsed;
  if (policy.allow_private || port == port_https || port == port_http) {
    return port;
  }
  if (port < port_unprivileged_min || std::ranges::find(ports_denied, port) != ports_denied.end()) {
    return refuse(
        fmt::format("The URL's port {} is not allowed. Use 443, 80 or a port from 1024 up that "
                    "does not belong to a database, broker or control plane.",
                    port));
  }
  return port;
}

// `host`, `host:port`, `[v6]` or `[v6]:port`.
Result<void> read_authority(std::string_view text, const AddressPolicy& policy, TargetUrl& url) {
  if (text.find('@') != std::string_view::npos) {
    return refuse("The URL must not contain a user name or password (@).");
  }
  const bool is_bracketed = text.starts_with('[');
  const std::size_t host_begin = is_bracketed ? 1 : 0;
  const std::size_t host_end = std::min(text.find(is_bracketed ? ']' : ':'), text.size());
  if (is_bracketed && host_end == text.size()) {
    return refuse("The URL's IPv6 address has no closing bracket.");
  }
  const std::string_view host = text.substr(host_begin, host_end - host_begin);
  POSTRIDER_CHECK(is_bracketed ? read_v6(host, url) : read_name_or_v4(host, policy, url));

  const std::string_view rest = text.substr(host_end + host_begin);
  if (rest.empty()) {
    return {};
  }
  if (!rest.starts_with(':')) {
    return refuse("The URL's IPv6 address may be followed only by a port.");
  }
  POSTRIDER_TRY(url.port, read_port(rest.substr(1), policy));
  return {};
}

}  // namespace

std::string TargetUrl::authority() const {
  std::string text = address && address->is_v6 ? '[' + host + ']' : host;
  if (port != (tls ? port_https : port_http)) {
    text += ':';
    text += std::to_string(port);
  }
  return text;
}

std::string_view shown_url(std::string_view text) {
  return text.substr(0, text.find_first_of("?#"));
}

Result<TargetUrl> parse_target_url(std::string_view text, const UrlPolicy& policy) {
  if (text.size() > url_length_max) {
    return refuse(fmt::format("The URL is longer than {} characters.", url_length_max));
  }
  POSTRIDER_CHECK(check_characters(text));

  const std::size_t scheme_end = text.find("://");
  const std::string scheme = to_lower(text.substr(0, std::min(scheme_end, text.size())));
  if (scheme_end == std::string_view::npos || (scheme != "https" && scheme != "http")) {
    return refuse(policy.allow_http ? "The URL must start with https:// or http://."
                                    : "The URL must start with https://.");
  }
  TargetUrl url;
  url.tls = scheme == "https";
  if (!url.tls && !policy.allow_http) {
    return refuse("The URL must start with https://. This server does not allow plain http.");
  }
  url.port = url.tls ? port_https : port_http;

  const std::string_view rest = text.substr(scheme_end + 3);
  const std::size_t path_begin = std::min(rest.find_first_of("/?"), rest.size());
  POSTRIDER_CHECK(read_authority(rest.substr(0, path_begin), policy.addresses, url));
  if (url.address) {
    if (const auto reason = forbidden_address(*url.address, policy.addresses)) {
      return refuse(fmt::format("The URL's address {} is not allowed: {}.", url.host, *reason));
    }
    if (is_own_listener(policy.addresses, {*url.address, url.port})) {
      return refuse(
          fmt::format("The URL's address {} is not allowed: {}.", url.host, own_address_rule));
    }
  }
  const std::string_view path_and_query = rest.substr(path_begin);
  url.path_and_query = path_and_query.starts_with('/') ? "" : "/";
  url.path_and_query += path_and_query;
  return url;
}

}  // namespace postrider
