#include "core/request/request.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "core/base/assert.h"
#include "core/net/header_rules.h"
#include "core/request/payload_format.h"
#include "core/request/signature.h"

namespace postrider {
namespace {

// More than the names, ids, times and numbers that fill() writes besides what it measures.
constexpr std::size_t filled_head_bytes = 640;

void append_number(std::string& out, std::int64_t number) {
  std::array<char, 20> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

// Whatever `value` contains, it stays inside its header.
void append_value(std::string& out, std::string_view value) {
  constexpr std::string_view hex = "0123456789ABCDEF";
  if (is_header_value(value)) {
    out += value;
    return;
  }
  for (const char character : value) {
    if (is_header_value({&character, 1})) {
      out += character;
      continue;
    }
    out += '%';
    out += hex[static_cast<unsigned char>(character) >> 4];
    out += hex[static_cast<unsigned char>(character) & 15];
  }
}

void append_header(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  out += ": ";
  append_value(out, value);
  out += "\r\n";
}

// For values that we spelled ourselves: not looked at again.
void append_own_header(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  out += ": ";
  out += value;
  out += "\r\n";
}

void append_custom_header(std::string& out, std::string_view name, std::string_view value) {
  POSTRIDER_ASSERT(is_header_name(name));
  append_header(out, name, value);
}

/// What goes into the head beside the webhook's own settings.
struct HeadParts {
  const TargetUrl& url;
  std::string_view user_agent;
  const Headers& headers;
};

std::string write_fixed_head(const Webhook& webhook, const HeadParts& parts) {
  std::string head = "POST ";
  append_value(head, parts.url.path_and_query);
  head += " HTTP/1.1\r\n";
  append_header(head, "Host", parts.url.authority());
  append_header(head, "User-Agent", parts.user_agent);
  append_header(head, "Content-Type", "application/json");
  append_header(head, "Accept-Encoding", "identity");
  for (const auto& [name, value] : parts.headers) {
    append_custom_header(head, name, value);
  }
  const SignaturePolicy& signature = webhook.signature;
  if (signature.prefixed_headers && signature.header_set == HeaderSet::platform) {
    append_header(head, signature.header_prefix + "ID", webhook.id.to_string());
  }
  return head;
}

RequestShape make_shape(const Webhook& webhook, const HeadParts& parts) {
  return {.url = webhook.url,
          .head = write_fixed_head(webhook, parts),
          .signature = webhook.signature,
          .payload_format = webhook.payload_format};
}

Headers hide_credentials(Headers headers) {
  for (auto& [name, value] : headers) {
    if (is_sensitive_header(name)) {
      value = hidden_value;
    }
  }
  return headers;
}

}  // namespace

RequestTemplate::RequestTemplate(const Webhook& webhook, const TargetUrl& url,
                                 std::string_view user_agent)
    : shape_(make_shape(webhook, {url, user_agent, webhook.headers})),
      signature_header_(signature_header(webhook.signature)) {
  POSTRIDER_ASSERT(is_header_name(webhook.signature.header_prefix));
  const auto is_sensitive = [](const auto& header) { return is_sensitive_header(header.first); };
  if (std::ranges::any_of(webhook.headers, is_sensitive)) {
    hiding_ = make_shape(webhook, {url, user_agent, hide_credentials(webhook.headers)});
  }
}

RequestTemplate::RequestTemplate(RequestShape shape)
    : shape_(std::move(shape)), signature_header_(signature_header(shape_.signature)) {}

std::string RequestTemplate::fill(const Event& event, const AttemptStamp& stamp,
                                  const Sign& sign) const {
  const std::array<TimedSign, 1> signs = {TimedSign{.sign = sign}};
  return fill(event, stamp, signs);
}

std::string RequestTemplate::fill(const Event& event, const AttemptStamp& stamp,
                                  std::span<const TimedSign> signs) const {
  POSTRIDER_ASSERT(!signs.empty());
  const std::string body = render_body(shape_.payload_format, event, stamp.delivery_id);
  const std::string event_id = event.id.to_string();
  const std::int64_t unix_seconds = to_unix_seconds(stamp.now);
  const SignatureScheme scheme = shape_.signature.scheme;
  const SignedText text =
      signed_text(scheme, {.id = event_id, .unix_seconds = unix_seconds, .body = body});
  std::vector<std::string> signatures = {signs.front().sign(text.prefix, text.body)};
  for (const TimedSign& old : signs.subspan(1)) {
    if (stamp.now < old.ends_at) {
      signatures.push_back(old.sign(text.prefix, text.body));
    }
  }
  const std::string value = signature_value(scheme, unix_seconds, signatures);
  return write(event, stamp, {.event_id = event_id, .body = body, .signature = value});
}

std::string RequestTemplate::fill_unsigned(const Event& event, const AttemptStamp& stamp,
                                           std::string_view signature) const {
  const std::string body = render_body(shape_.payload_format, event, stamp.delivery_id);
  const std::string event_id = event.id.to_string();
  return write(event, stamp, {.event_id = event_id, .body = body, .signature = signature});
}

std::string RequestTemplate::write(const Event& event, const AttemptStamp& stamp,
                                   const Variable& variable) const {
  const SignaturePolicy& signature = shape_.signature;
  std::string out;
  out.reserve(shape_.head.size() + filled_head_bytes + 6 * signature.header_prefix.size() +
              event.type.size() + 3 * event.idempotency_key.size() + variable.signature.size() +
              variable.body.size());
  out += shape_.head;
  append_standard(out, variable.event_id, to_unix_seconds(stamp.now));
  if (signature.prefixed_headers) {
    append_prefixed(out, event, stamp);
  }
  append_timestamp(out, stamp.now);
  append_own_header(out, signature_header_, variable.signature);
  out += "Content-Length: ";
  append_number(out, static_cast<std::int64_t>(variable.body.size()));
  out += "\r\n\r\n";
  out += variable.body;
  return out;
}

void RequestTemplate::append_standard(std::string& out, std::string_view event_id,
                                      std::int64_t unix_seconds) const {
  if (!shape_.signature.standard_headers && !is_standard(shape_.signature.scheme)) {
    return;
  }
  append_own_header(out, "webhook-id", event_id);
  out += "webhook-timestamp: ";
  append_number(out, unix_seconds);
  out += "\r\n";
}

void RequestTemplate::append_name(std::string& out, std::string_view name) const {
  out += shape_.signature.header_prefix;
  out += name;
  out += ": ";
}

void RequestTemplate::append_prefixed(std::string& out, const Event& event,
                                      const AttemptStamp& stamp) const {
  const HeaderSet set = shape_.signature.header_set;
  const bool is_platform = set == HeaderSet::platform;
  const bool is_exchange = set == HeaderSet::exchange;
  if (is_exchange || set == HeaderSet::outbox || set == HeaderSet::workspace) {
    append_name(out, set == HeaderSet::workspace ? "Event-ID" : "Id");
    out += EventKind::prefix;
    out += to_base32(event.id.bytes);
    out += "\r\n";
  }
  if (is_platform || set == HeaderSet::tenant) {
    append_name(out, "Event");
    append_value(out, event.type);
    out += "\r\n";
    append_name(out, is_platform ? "Delivery" : "Delivery-ID");
    out += DeliveryKind::prefix;
    out += to_base32(stamp.delivery_id.bytes);
    out += "\r\n";
  }
  if (is_platform || is_exchange) {
    append_name(out, "Attempt");
    append_number(out, stamp.attempt_number);
    out += "\r\n";
  }
  if (is_platform && !event.idempotency_key.empty()) {
    append_header(out, "X-Idempotency-Key", event.idempotency_key);
  }
}

void RequestTemplate::append_timestamp(std::string& out, WallTime now) const {
  const HeaderSet set = shape_.signature.header_set;
  const bool in_seconds = set == HeaderSet::exchange || set == HeaderSet::outbox;
  if (shape_.signature.scheme == SignatureScheme::sha256_timestamp ||
      (shape_.signature.prefixed_headers && in_seconds)) {
    append_name(out, "Timestamp");
    append_number(out, to_unix_seconds(now));
    out += "\r\n";
  } else if (shape_.signature.prefixed_headers && set == HeaderSet::platform) {
    append_name(out, "Timestamp");
    out += to_rfc3339(now);
    out += "\r\n";
  }
}

}  // namespace postrider
