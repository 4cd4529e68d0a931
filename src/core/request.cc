#include "core/request.h"

#include <array>
#include <charconv>
#include <vector>

#include "core/assert.h"
#include "core/header_rules.h"
#include "core/payload_format.h"
#include "core/signature.h"

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

}  // namespace

RequestTemplate::RequestTemplate(const Webhook& webhook, const TargetUrl& url,
                                 std::string_view user_agent)
    : signature_header_(signature_header(webhook.signature)),
      signature_(webhook.signature),
      payload_format_(webhook.payload_format) {
  POSTRIDER_ASSERT(is_header_name(signature_.header_prefix));
  fixed_head_ = "POST ";
  append_value(fixed_head_, url.path_and_query);
  fixed_head_ += " HTTP/1.1\r\n";
  append_header(fixed_head_, "Host", url.authority());
  append_header(fixed_head_, "User-Agent", user_agent);
  append_header(fixed_head_, "Content-Type", "application/json");
  append_header(fixed_head_, "Accept-Encoding", "identity");
  for (const auto& [name, value] : webhook.headers) {
    append_custom_header(fixed_head_, name, value);
  }
  if (signature_.prefixed_headers && signature_.header_set == HeaderSet::platform) {
    append_header(fixed_head_, signature_.header_prefix + "ID", webhook.id.to_string());
  }
}

std::string RequestTemplate::fill(const Event& event, const AttemptStamp& stamp,
                                  const Sign& sign) const {
  const std::array<TimedSign, 1> signs = {TimedSign{.sign = sign}};
  return fill(event, stamp, signs);
}

std::string RequestTemplate::fill(const Event& event, const AttemptStamp& stamp,
                                  std::span<const TimedSign> signs) const {
  POSTRIDER_ASSERT(!signs.empty());
  const std::string body = render_body(payload_format_, event, stamp.delivery_id);
  const std::string event_id = event.id.to_string();
  const std::int64_t unix_seconds = to_unix_seconds(stamp.now);
  const SignedText text =
      signed_text(signature_.scheme, {.id = event_id, .unix_seconds = unix_seconds, .body = body});
  std::vector<std::string> signatures = {signs.front().sign(text.prefix, text.body)};
  for (const TimedSign& old : signs.subspan(1)) {
    if (stamp.now < old.ends_at) {
      signatures.push_back(old.sign(text.prefix, text.body));
    }
  }
  const std::string value = signature_value(signature_.scheme, unix_seconds, signatures);

  std::string out;
  out.reserve(fixed_head_.size() + filled_head_bytes + 6 * signature_.header_prefix.size() +
              event.type.size() + 3 * event.idempotency_key.size() + value.size() + body.size());
  out += fixed_head_;
  append_standard(out, event_id, unix_seconds);
  if (signature_.prefixed_headers) {
    append_prefixed(out, event, stamp);
  }
  append_timestamp(out, stamp.now);
  append_own_header(out, signature_header_, value);
  out += "Content-Length: ";
  append_number(out, static_cast<std::int64_t>(body.size()));
  out += "\r\n\r\n";
  out += body;
  return out;
}

void RequestTemplate::append_standard(std::string& out, std::string_view event_id,
                                      std::int64_t unix_seconds) const {
  if (!signature_.standard_headers && !is_standard(signature_.scheme)) {
    return;
  }
  append_own_header(out, "webhook-id", event_id);
  out += "webhook-timestamp: ";
  append_number(out, unix_seconds);
  out += "\r\n";
}

void RequestTemplate::append_name(std::string& out, std::string_view name) const {
  out += signature_.header_prefix;
  out += name;
  out += ": ";
}

void RequestTemplate::append_prefixed(std::string& out, const Event& event,
                                      const AttemptStamp& stamp) const {
  const HeaderSet set = signature_.header_set;
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
  const HeaderSet set = signature_.header_set;
  const bool in_seconds = set == HeaderSet::exchange || set == HeaderSet::outbox;
  if (signature_.scheme == SignatureScheme::sha256_timestamp ||
      (signature_.prefixed_headers && in_seconds)) {
    append_name(out, "Timestamp");
    append_number(out, to_unix_seconds(now));
    out += "\r\n";
  } else if (signature_.prefixed_headers && set == HeaderSet::platform) {
    append_name(out, "Timestamp");
    out += to_rfc3339(now);
    out += "\r\n";
  }
}

}  // namespace postrider
