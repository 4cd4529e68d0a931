#include "core/request/secret_text.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/json/json_string.h"
#include "core/json/json_text.h"

namespace postrider {
namespace {

constexpr std::string_view secret_prefix = "whsec_";

std::string in_base64(const Secret<std::string>& key) {
  return std::string{secret_prefix} + to_base64(key.reveal());
}

bool is_utf8(std::string_view text) {
  std::string quoted;
  append_json_string(quoted, text);
  return decode_json_string(quoted).has_value();
}

bool is_secret_text(std::string_view text) {
  const auto is_control = [](char character) {
    return static_cast<unsigned char>(character) < 0x20 || character == '\x7f';
  };
  return text.size() >= secret_text_bytes_min && text.size() <= secret_text_bytes_max &&
         std::ranges::none_of(text, is_control) && is_utf8(text);
}

// Messages are displayed and logged, so they must not contain any part of the secret (P11).
Result<Secret<std::string>> parse_key(std::string_view text) {
  std::string key{text};
  if (text.starts_with(secret_prefix)) {
    std::optional<std::string> decoded = from_base64(text.substr(secret_prefix.size()));
    if (!decoded) {
      return fail(Errc::invalid,
                  "The secret after whsec_ must be base64 (A-Z a-z 0-9 + /) with its = padding.");
    }
    key = *std::move(decoded);
  }
  if (key.size() < secret_bytes_min || key.size() > secret_bytes_max) {
    return fail(Errc::invalid, fmt::format("The secret must be {} to {} bytes long; this one has "
                                           "{}.",
                                           secret_bytes_min, secret_bytes_max, key.size()));
  }
  return Secret<std::string>{std::move(key)};
}

Secret<std::string> adapt_old(SignatureScheme before, SignatureScheme after,
                              const Secret<std::string>& secret) {
  const std::string text = format_secret(before, secret);
  return parse_secret(after, text).value_or(Secret<std::string>{text});
}

}  // namespace

Result<Secret<std::string>> parse_secret(SignatureScheme scheme, std::string_view text) {
  if (is_standard(scheme)) {
    return parse_key(text);
  }
  if (!is_secret_text(text)) {
    return fail(Errc::invalid, fmt::format("The secret must be a text of {} to {} bytes without "
                                           "control characters.",
                                           secret_text_bytes_min, secret_text_bytes_max));
  }
  return Secret<std::string>{std::string{text}};
}

std::string format_secret(SignatureScheme scheme, const Secret<std::string>& secret) {
  // Earlier versions stored random bytes for every scheme and showed them in base64.
  return is_standard(scheme) || !is_secret_text(secret.reveal()) ? in_base64(secret)
                                                                 : secret.reveal();
}

Secret<std::string> signing_key(SignatureScheme scheme, const Secret<std::string>& secret) {
  return is_standard(scheme) ? secret : Secret<std::string>{format_secret(scheme, secret)};
}

std::size_t secret_random_bytes(SignatureScheme scheme, std::size_t text_length) {
  return is_standard(scheme) ? secret_bytes_generated : (text_length + 1) / 2;
}

Secret<std::string> generate_secret(SignatureScheme scheme, std::string random,
                                    std::size_t text_length) {
  POSTRIDER_ASSERT(random.size() == secret_random_bytes(scheme, text_length));
  return Secret<std::string>{is_standard(scheme) ? std::move(random)
                                                 : to_hex(random).substr(0, text_length)};
}

Result<void> adapt_secrets(SignatureScheme before, Webhook& webhook) {
  const SignatureScheme after = webhook.signature.scheme;
  if (is_standard(before) == is_standard(after)) {
    return {};
  }
  for (OldSecret& old : webhook.old_secrets) {
    old.key = adapt_old(before, after, old.key);
  }
  POSTRIDER_TRY(webhook.secret, parse_secret(after, format_secret(before, webhook.secret)));
  return {};
}

}  // namespace postrider
