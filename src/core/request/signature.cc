#include "core/request/signature.h"

#include <algorithm>

#include "core/base/assert.h"
#include "core/base/enum_names.h"

namespace postrider {
namespace {

constexpr std::array<std::string_view, 5> names = {"standard", "standard-ed25519", "t-v1",
                                                   "sha256-timestamp", "sha256-body"};

constexpr EnumNames<HeaderSet, HeaderSet::tenant> header_set_names{
    {"platform", "exchange", "outbox", "workspace", "tenant"}};

constexpr std::string_view base64_alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr auto base64_values = [] {
  std::array<std::int8_t, 256> values{};
  values.fill(-1);
  for (std::size_t value = 0; value < base64_alphabet.size(); ++value) {
    values[static_cast<unsigned char>(base64_alphabet[value])] = static_cast<std::int8_t>(value);
  }
  return values;
}();

constexpr std::uint32_t byte_at(std::string_view bytes, std::size_t index) {
  return index < bytes.size() ? static_cast<unsigned char>(bytes[index]) : 0u;
}

std::string standard_value(std::string_view version, std::span<const std::string> signatures) {
  std::string value;
  for (const std::string& signature : signatures) {
    if (!value.empty()) {
      value += ' ';
    }
    value += version;
    value += to_base64(signature);
  }
  return value;
}

std::string t_v1_value(std::int64_t unix_seconds, std::span<const std::string> signatures) {
  std::string value = "t=" + std::to_string(unix_seconds);
  for (const std::string& signature : signatures) {
    value += ",v1=";
    value += to_hex(signature);
  }
  return value;
}

}  // namespace

std::string_view to_string(SignatureScheme scheme) {
  const auto index = static_cast<std::size_t>(scheme);
  POSTRIDER_ASSERT(index < names.size());
  return names[index];
}

std::string_view to_string(HeaderSet set) { return header_set_names.name(set); }

std::optional<HeaderSet> parse_header_set(std::string_view text) {
  return header_set_names.find(text);
}

std::optional<SignatureScheme> parse_signature_scheme(std::string_view text) {
  for (std::size_t index = 0; index < names.size(); ++index) {
    if (names[index] == text) {
      return static_cast<SignatureScheme>(index);
    }
  }
  return std::nullopt;
}

SignedText signed_text(SignatureScheme scheme, const SignedParts& parts) {
  SignedText text{.prefix = {}, .body = parts.body};
  switch (scheme) {
    case SignatureScheme::standard:
    case SignatureScheme::standard_ed25519:
      text.prefix.reserve(parts.id.size() + 22);  // Two dots and the longest 64-bit number.
      text.prefix += parts.id;
      text.prefix += '.';
      [[fallthrough]];
    case SignatureScheme::t_v1:
    case SignatureScheme::sha256_timestamp:
      text.prefix += std::to_string(parts.unix_seconds);
      text.prefix += '.';
      break;
    case SignatureScheme::sha256_body:
      break;
  }
  return text;
}

std::string signature_value(SignatureScheme scheme, std::int64_t unix_seconds,
                            std::span<const std::string> signatures) {
  POSTRIDER_ASSERT(!signatures.empty());
  POSTRIDER_ASSERT(!has_one_signature(scheme) || signatures.size() == 1);
  switch (scheme) {
    case SignatureScheme::standard:
      return standard_value("v1,", signatures);
    case SignatureScheme::standard_ed25519:
      return standard_value("v1a,", signatures);
    case SignatureScheme::t_v1:
      return t_v1_value(unix_seconds, signatures);
    case SignatureScheme::sha256_timestamp:
    case SignatureScheme::sha256_body:
      break;
  }
  return "sha256=" + to_hex(signatures.front());
}

std::string signature_header(const SignaturePolicy& policy) {
  return is_standard(policy.scheme) ? "webhook-signature" : policy.header_prefix + "Signature";
}

std::string next_signature_header(const SignaturePolicy& policy) {
  return policy.header_prefix + "Signature-Next";
}

std::string to_base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4, '=');
  std::size_t out = 0;
  for (std::size_t in = 0; in < bytes.size(); in += 3) {
    const std::uint32_t group =
        byte_at(bytes, in) << 16 | byte_at(bytes, in + 1) << 8 | byte_at(bytes, in + 2);
    const std::size_t characters = std::min<std::size_t>(bytes.size() - in, 3) + 1;
    for (std::size_t i = 0; i < characters; ++i) {
      text[out + i] = base64_alphabet[(group >> (18 - 6 * i)) & 63u];
    }
    out += 4;
  }
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) {
    return std::nullopt;
  }
  std::size_t padding = 0;
  while (padding < 2 && text.ends_with('=')) {
    text.remove_suffix(1);
    ++padding;
  }
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t buffer = 0;
  int bits = 0;
  for (const char character : text) {
    const std::int8_t value = base64_values[static_cast<unsigned char>(character)];
    if (value < 0) {
      return std::nullopt;
    }
    buffer = (buffer << 6) | static_cast<std::uint32_t>(value);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes += static_cast<char>(buffer >> bits);
    }
  }
  // Unused bits must be zero. Otherwise two texts would decode to the same bytes.
  if ((buffer & ((1u << bits) - 1)) != 0) {
    return std::nullopt;
  }
  return bytes;
}

std::string to_hex(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text(bytes.size() * 2, '0');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    text[2 * i] = digits[byte >> 4];
    text[2 * i + 1] = digits[byte & 15];
  }
  return text;
}

}  // namespace postrider
