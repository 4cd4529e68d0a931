// Verifies the signature and age of a webhook. For programs that receive webhooks.
//
// A single header for C++17 and later. Requires only OpenSSL's libcrypto (1.1.1 or later).
//
//     postrider::verify::Options options;
//     options.keys = {"whsec_..."};  // The secret as the server showed it.
//     const postrider::verify::Verifier verifier(options);
//     const auto outcome = verifier.check({{"webhook-id", id}, ...}, body);
//     if (outcome != postrider::verify::Outcome::valid) { log explain(outcome); respond 401; }
//
// `body` must be the bytes as received, before any JSON parsing. Signatures are compared in
// constant time. A Verifier is immutable; any thread may use it. Throws only if memory is
// exhausted.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace postrider::verify {

/// The webhook's `signature.scheme`.
enum class Scheme : std::uint8_t {
  standard,          ///< `webhook-signature: v1,<base64>`, HMAC over `id.timestamp.body`.
  standard_ed25519,  ///< `webhook-signature: v1a,<base64>`, Ed25519 over the same text.
  t_v1,              ///< `X-Webhook-Signature: t=<unix>,v1=<hex>`, HMAC over `timestamp.body`.
  sha256_timestamp,  ///< `X-Webhook-Signature: sha256=<hex>`, HMAC over `timestamp.body`.
  sha256_body,       ///< `X-Webhook-Signature: sha256=<hex>`, HMAC over the body alone.
};
// During a rotation, the last two have a second header, `X-Webhook-Signature-Next`, signed with the
// new secret. Either signature is accepted.

/// The result of a check.
enum class Outcome : std::uint8_t {
  valid,
  no_usable_key,      ///< No key can be used with the scheme. A mistake in the receiver's setup.
  missing_header,     ///< A header that the scheme needs is missing.
  malformed_header,   ///< A header has no valid timestamp or no signature of the scheme.
  wrong_signature,    ///< Not signed with any of the keys, or the signed text was changed.
  timestamp_too_old,  ///< Signed correctly, but too long ago. Possibly a replay attack.
  timestamp_too_new,  ///< Signed correctly, but in the future. A clock is wrong.
};

struct Options {
  /// The secret as the server showed it. `whsec_<base64>` or any other text for the standard
  /// scheme; `whpk_<base64>` (the public key) for Ed25519; for the other schemes the key is the
  /// text itself, byte for byte. Give several keys during a rotation: one that matches is enough.
  std::vector<std::string> keys;
  Scheme scheme = Scheme::standard;
  std::chrono::seconds tolerance = std::chrono::minutes{5};  // In both directions.
  std::string header_prefix = "X-Webhook-";  // For the schemes other than the standard ones.
};

/// Returns a header's value by its name, ignoring case, or nullopt if it is missing.
using Lookup = std::function<std::optional<std::string>(std::string_view name)>;
/// All headers, in any order. The first header of a name is used.
using Headers = std::vector<std::pair<std::string, std::string>>;

/// A sentence for the log.
[[nodiscard]] inline std::string_view explain(Outcome outcome) {
  switch (outcome) {
    case Outcome::valid:
      return "The signature is valid.";
    case Outcome::no_usable_key:
      return "None of the keys can be used with this signature scheme.";
    case Outcome::missing_header:
      return "A signature header is missing.";
    case Outcome::malformed_header:
      return "A signature header is malformed.";
    case Outcome::wrong_signature:
      return "The signature was not made with this key, or the signed content was changed.";
    case Outcome::timestamp_too_old:
      return "The signature is valid, but older than the tolerance allows.";
    case Outcome::timestamp_too_new:
      return "The signature is valid, but its timestamp is in the future.";
  }
  return "";
}

namespace detail {

// More than any rotation needs. Further signatures are ignored, because each costs time.
constexpr std::size_t signatures_max = 16;
// Enough for the year 9999, and small enough not to overflow.
constexpr std::size_t timestamp_digits_max = 12;
constexpr std::size_t hmac_bytes = 32;
constexpr std::size_t public_key_bytes = 32;
constexpr std::size_t ed25519_bytes = 64;

inline bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

inline char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

inline bool same_name(std::string_view a, std::string_view b) {
  bool same = a.size() == b.size();
  for (std::size_t i = 0; same && i < a.size(); ++i) {
    same = to_lower(a[i]) == to_lower(b[i]);
  }
  return same;
}

constexpr std::string_view base64_digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view hex_digits = "0123456789abcdef";

/// Strict RFC 4648 with padding: exactly one text per value.
inline std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) {
    return std::nullopt;
  }
  for (int padding = 0; padding < 2 && !text.empty() && text.back() == '='; ++padding) {
    text.remove_suffix(1);
  }
  std::string bytes;
  std::uint32_t buffer = 0;
  unsigned bits = 0;
  for (const char c : text) {
    const std::size_t value = base64_digits.find(c);
    if (value == std::string_view::npos) {
      return std::nullopt;
    }
    buffer = (buffer << 6) | static_cast<std::uint32_t>(value);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes += static_cast<char>((buffer >> bits) & 0xffu);
    }
  }
  const bool canonical = (buffer & ((1u << bits) - 1u)) == 0;
  return canonical ? std::optional<std::string>(std::move(bytes)) : std::nullopt;
}

inline std::optional<std::string> from_hex(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    const std::size_t high = hex_digits.find(to_lower(text[i]));
    const std::size_t low = hex_digits.find(to_lower(text[i + 1]));
    if (high == std::string_view::npos || low == std::string_view::npos) {
      return std::nullopt;
    }
    bytes += static_cast<char>(high * 16 + low);
  }
  return text.size() % 2 == 0 ? std::optional<std::string>(std::move(bytes)) : std::nullopt;
}

/// Accepts only digits: no sign, no space, nothing that parsers could interpret differently.
inline std::optional<std::int64_t> parse_timestamp(std::string_view text) {
  if (text.empty() || text.size() > timestamp_digits_max) {
    return std::nullopt;
  }
  std::int64_t seconds = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') {
      return std::nullopt;
    }
    seconds = seconds * 10 + (c - '0');
  }
  return seconds;
}

/// Removes the first part from a list and returns it.
inline std::string_view take_part(std::string_view& list, char separator) {
  const std::size_t end = list.find(separator);
  const std::string_view part = list.substr(0, end);
  list.remove_prefix(end == std::string_view::npos ? list.size() : end + 1);
  return part;
}

inline const unsigned char* bytes_of(std::string_view text) {
  // OpenSSL treats a null pointer as a missing argument; an empty string_view may have one.
  return reinterpret_cast<const unsigned char*>(text.data() == nullptr ? "" : text.data());
}

inline std::string hmac_sha256(std::string_view key, std::string_view message) {
  std::string mac(hmac_bytes, '\0');
  unsigned int length = 0;
  const unsigned char* done =
      HMAC(EVP_sha256(), bytes_of(key), static_cast<int>(key.size()), bytes_of(message),
           message.size(), reinterpret_cast<unsigned char*>(&mac[0]), &length);
  return done != nullptr && length == hmac_bytes ? mac : std::string();
}

inline bool constant_time_equal(std::string_view a, std::string_view b) {
  return a.size() == b.size() && !a.empty() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

inline bool is_ed25519(std::string_view public_key, std::string_view signature,
                       std::string_view message) {
  const std::unique_ptr<EVP_PKEY, FreeKey> key(EVP_PKEY_new_raw_public_key(
      EVP_PKEY_ED25519, nullptr, bytes_of(public_key), public_key.size()));
  const std::unique_ptr<EVP_MD_CTX, FreeContext> context(EVP_MD_CTX_new());
  return key && context && signature.size() == ed25519_bytes &&
         EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
         EVP_DigestVerify(context.get(), bytes_of(signature), signature.size(), bytes_of(message),
                          message.size()) == 1;
}

/// The key's bytes. Returns nullopt if the text is not a valid key for the scheme.
inline std::optional<std::string> decode_key(Scheme scheme, const std::string& text) {
  if (scheme == Scheme::standard_ed25519) {
    std::optional<std::string> key =
        from_base64(starts_with(text, "whpk_") ? std::string_view(text).substr(5) : text);
    return key && key->size() == public_key_bytes ? std::move(key) : std::nullopt;
  }
  std::optional<std::string> key = text;
  if (scheme == Scheme::standard && starts_with(text, "whsec_")) {
    key = from_base64(std::string_view(text).substr(6));
  }
  return key && !key->empty() ? std::move(key) : std::nullopt;
}

/// The contents of the signature headers, not yet verified.
struct Claim {
  std::string prefix;  // The signed text before the body.
  std::optional<std::int64_t> timestamp;
  std::vector<std::string> signatures;  // Raw bytes.
};

}  // namespace detail

class Verifier {
 public:
  explicit Verifier(Options options) : options_(std::move(options)) {
    for (const std::string& text : options_.keys) {
      if (std::optional<std::string> key = detail::decode_key(options_.scheme, text)) {
        keys_.push_back(*std::move(key));
      }
    }
  }

  [[nodiscard]] Outcome check(const Lookup& header, std::string_view body,
                              std::int64_t now_unix_seconds) const {
    if (keys_.empty()) {
      return Outcome::no_usable_key;
    }
    detail::Claim claim;
    const Outcome read =
        is_standard() ? read_standard(header, claim) : read_prefixed(header, claim);
    if (read != Outcome::valid) {
      return read;
    }
    if (!is_signed(claim, body)) {
      return Outcome::wrong_signature;
    }
    return check_time(claim, now_unix_seconds);
  }

  [[nodiscard]] Outcome check(const Headers& headers, std::string_view body,
                              std::int64_t now_unix_seconds) const {
    const auto find = [&headers](std::string_view name) -> std::optional<std::string> {
      for (const auto& [other, value] : headers) {
        if (detail::same_name(other, name)) {
          return value;
        }
      }
      return std::nullopt;
    };
    return check(Lookup(find), body, now_unix_seconds);
  }

  /// Uses this machine's clock.
  [[nodiscard]] Outcome check(const Lookup& header, std::string_view body) const {
    return check(header, body, static_cast<std::int64_t>(std::time(nullptr)));
  }
  [[nodiscard]] Outcome check(const Headers& headers, std::string_view body) const {
    return check(headers, body, static_cast<std::int64_t>(std::time(nullptr)));
  }

 private:
  bool is_standard() const {
    return options_.scheme == Scheme::standard || options_.scheme == Scheme::standard_ed25519;
  }

  static Outcome readable(const detail::Claim& claim) {
    return claim.signatures.empty() ? Outcome::malformed_header : Outcome::valid;
  }

  static void add(detail::Claim& claim, std::optional<std::string> signature) {
    if (signature && claim.signatures.size() < detail::signatures_max) {
      claim.signatures.push_back(*std::move(signature));
    }
  }

  // `v1,<base64> v1a,<base64> …`. Other versions are ignored.
  Outcome read_standard(const Lookup& header, detail::Claim& claim) const {
    const std::optional<std::string> id = header("webhook-id");
    const std::optional<std::string> timestamp = header("webhook-timestamp");
    const std::optional<std::string> signature = header("webhook-signature");
    if (!id || !timestamp || !signature) {
      return Outcome::missing_header;
    }
    claim.timestamp = detail::parse_timestamp(*timestamp);
    if (id->empty() || !claim.timestamp) {
      return Outcome::malformed_header;
    }
    claim.prefix = *id + "." + *timestamp + ".";
    const std::string_view version = options_.scheme == Scheme::standard ? "v1," : "v1a,";
    std::string_view list = *signature;
    while (!list.empty()) {
      const std::string_view part = detail::take_part(list, ' ');
      if (detail::starts_with(part, version)) {
        add(claim, detail::from_base64(part.substr(version.size())));
      }
    }
    return readable(claim);
  }

  Outcome read_prefixed(const Lookup& header, detail::Claim& claim) const {
    const std::optional<std::string> value = header(options_.header_prefix + "Signature");
    if (!value) {
      return Outcome::missing_header;
    }
    if (options_.scheme == Scheme::t_v1) {
      return read_t_v1(*value, claim);
    }
    if (!detail::starts_with(*value, "sha256=")) {
      return Outcome::malformed_header;
    }
    add(claim, detail::from_hex(std::string_view(*value).substr(7)));
    const std::optional<std::string> next = header(options_.header_prefix + "Signature-Next");
    if (next && detail::starts_with(*next, "sha256=")) {
      add(claim, detail::from_hex(std::string_view(*next).substr(7)));
    }
    if (options_.scheme == Scheme::sha256_body) {
      return readable(claim);
    }
    std::optional<std::string> timestamp = header(options_.header_prefix + "Timestamp");
    if (!timestamp) {
      timestamp = header("webhook-timestamp");
    }
    if (!timestamp) {
      return Outcome::missing_header;
    }
    claim.timestamp = detail::parse_timestamp(*timestamp);
    claim.prefix = *timestamp + ".";
    return claim.timestamp ? readable(claim) : Outcome::malformed_header;
  }

  // `t=<unix>,v1=<hex>,v1=<hex>`
  static Outcome read_t_v1(std::string_view list, detail::Claim& claim) {
    while (!list.empty()) {
      const std::string_view part = detail::take_part(list, ',');
      if (detail::starts_with(part, "t=") && claim.prefix.empty()) {
        claim.timestamp = detail::parse_timestamp(part.substr(2));
        claim.prefix = std::string(part.substr(2)) + ".";
      } else if (detail::starts_with(part, "v1=")) {
        add(claim, detail::from_hex(part.substr(3)));
      }
    }
    return claim.timestamp ? readable(claim) : Outcome::malformed_header;
  }

  // Compares every pair, so that the time taken does not reveal which one matches.
  bool is_signed(const detail::Claim& claim, std::string_view body) const {
    std::string message = claim.prefix;
    message.append(body.data(), body.size());
    bool found = false;
    for (const std::string& key : keys_) {
      const bool symmetric = options_.scheme != Scheme::standard_ed25519;
      const std::string mac = symmetric ? detail::hmac_sha256(key, message) : std::string();
      for (const std::string& signature : claim.signatures) {
        const bool fits = symmetric ? detail::constant_time_equal(mac, signature)
                                    : detail::is_ed25519(key, signature, message);
        found = found || fits;
      }
    }
    return found;
  }

  Outcome check_time(const detail::Claim& claim, std::int64_t now) const {
    if (!claim.timestamp) {
      return Outcome::valid;  // sha256-body does not sign a timestamp.
    }
    if (*claim.timestamp < now - options_.tolerance.count()) {
      return Outcome::timestamp_too_old;
    }
    return *claim.timestamp > now + options_.tolerance.count() ? Outcome::timestamp_too_new
                                                               : Outcome::valid;
  }

  Options options_;
  std::vector<std::string> keys_;  // Decoded.
};

}  // namespace postrider::verify
