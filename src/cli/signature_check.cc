#include "cli/signature_check.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "adapters/openssl/digest.h"
#include "adapters/openssl/signer.h"

namespace postrider::cli {
namespace {

/// What one header says was signed, and how.
struct Claim {
  SignatureScheme scheme = SignatureScheme::standard;
  std::optional<std::int64_t> unix_seconds;
  std::vector<std::string_view> signatures;  // As spelled: base64 or hex.
};

std::optional<std::int64_t> parse_seconds(std::string_view text) {
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return seconds;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    parts.push_back(part);
  }
  return parts;
}

// `v1,<base64> v1a,<base64> …`
void add_standard(const api::HttpRequest& request, std::string_view value,
                  std::vector<Claim>& claims) {
  const auto seconds = parse_seconds(request.header("webhook-timestamp").value_or(""));
  for (const std::string_view part : split(value, ' ')) {
    if (part.starts_with("v1,")) {
      claims.push_back({SignatureScheme::standard, seconds, {part.substr(3)}});
    } else if (part.starts_with("v1a,")) {
      claims.push_back({SignatureScheme::standard_ed25519, seconds, {part.substr(4)}});
    }
  }
}

// `t=<unix>,v1=<hex>,v1=<hex>`
Claim read_t_v1(std::string_view value) {
  Claim claim;
  claim.scheme = SignatureScheme::t_v1;
  for (const std::string_view part : split(value, ',')) {
    if (part.starts_with("t=")) {
      claim.unix_seconds = parse_seconds(part.substr(2));
    } else if (part.starts_with("v1=")) {
      claim.signatures.push_back(part.substr(3));
    }
  }
  return claim;
}

// `sha256=<hex>` does not say whether the time is part of it: both are tried, the stricter one
// first.
void add_sha256(const api::HttpRequest& request, std::string_view prefix, std::string_view value,
                std::vector<Claim>& claims) {
  const std::string_view signature = value.substr(std::string_view{"sha256="}.size());
  const std::string timestamp_header = std::string{prefix} + "timestamp";
  for (const std::string_view name : {std::string_view{timestamp_header}, {"webhook-timestamp"}}) {
    if (const auto seconds = parse_seconds(request.header(name).value_or(""))) {
      claims.push_back({SignatureScheme::sha256_timestamp, seconds, {signature}});
    }
  }
  claims.push_back({SignatureScheme::sha256_body, std::nullopt, {signature}});
}

std::vector<Claim> claims_of(const api::HttpRequest& request) {
  constexpr std::string_view suffix = "signature";
  std::vector<Claim> claims;
  for (const auto& [name, value] : request.headers) {
    if (name == "webhook-signature") {
      add_standard(request, value, claims);
    } else if (name.ends_with(suffix) && value.starts_with("t=")) {
      claims.push_back(read_t_v1(value));
    } else if (name.ends_with(suffix) && value.starts_with("sha256=")) {
      const std::string_view prefix{name.data(), name.size() - suffix.size()};
      add_sha256(request, prefix, value, claims);
    }
  }
  return claims;
}

bool is_made_with(const Secret<std::string>& secret, const Claim& claim,
                  const api::HttpRequest& request) {
  const bool timed = claim.scheme != SignatureScheme::sha256_body;
  if (timed && !claim.unix_seconds) {
    return false;
  }
  const SignedText text =
      signed_text(claim.scheme, {.id = request.header("webhook-id").value_or(""),
                                 .unix_seconds = claim.unix_seconds.value_or(0),
                                 .body = request.body});
  const std::string raw = make_sign(claim.scheme, secret)(text.prefix, text.body);
  const std::string want = is_standard(claim.scheme) ? to_base64(raw) : to_hex(raw);
  return std::ranges::any_of(
      claim.signatures, [&](std::string_view given) { return constant_time_equal(given, want); });
}

bool is_stale(const Claim& claim, const SignatureRules& rules, WallTime now) {
  if (!claim.unix_seconds) {
    return false;
  }
  // Compared without subtracting: a sender may claim any 64-bit number.
  const std::int64_t now_seconds = to_unix_seconds(now);
  return *claim.unix_seconds < now_seconds - rules.tolerance.count() ||
         *claim.unix_seconds > now_seconds + rules.tolerance.count();
}

}  // namespace

std::string_view to_string(SignatureVerdict verdict) {
  constexpr std::array<std::string_view, 5> names = {"unchecked", "valid", "missing", "wrong",
                                                     "stale"};
  return names.at(static_cast<std::size_t>(verdict));
}

SignatureFinding check_signature(const api::HttpRequest& request, const SignatureRules& rules,
                                 WallTime now) {
  if (rules.secrets.empty()) {
    return {};
  }
  const std::vector<Claim> claims = claims_of(request);
  SignatureFinding finding{
      .verdict = claims.empty() ? SignatureVerdict::missing : SignatureVerdict::wrong,
      .scheme = {}};
  for (const Claim& claim : claims) {
    const bool known = std::ranges::any_of(
        rules.secrets, [&](const auto& secret) { return is_made_with(secret, claim, request); });
    if (!known) {
      continue;
    }
    finding.scheme = to_string(claim.scheme);
    finding.verdict = SignatureVerdict::stale;
    if (!is_stale(claim, rules, now)) {
      finding.verdict = SignatureVerdict::valid;
      return finding;
    }
  }
  return finding;
}

}  // namespace postrider::cli
