#include "cli/client/signature_check.h"

#include <array>
#include <optional>

#include <postrider/verify.h>

#include "adapters/openssl/ed25519_key.h"

namespace postrider::cli {
namespace {

/// A way in which a header may be meant.
struct Candidate {
  SignatureScheme scheme = SignatureScheme::standard;
  std::string header_prefix;  // Of the schemes that are not standard ones.
};

// Both enumerations list the schemes in the same order.
static_assert(static_cast<int>(SignatureScheme::sha256_body) ==
              static_cast<int>(verify::Scheme::sha256_body));

// `v1,<base64> v1a,<base64> …`
void add_standard(std::string_view value, std::vector<Candidate>& candidates) {
  const std::string list = " " + std::string{value};
  if (list.find(" v1,") != std::string::npos) {
    candidates.push_back({SignatureScheme::standard, {}});
  }
  if (list.find(" v1a,") != std::string::npos) {
    candidates.push_back({SignatureScheme::standard_ed25519, {}});
  }
}

std::vector<Candidate> candidates_of(const api::HttpRequest& request) {
  constexpr std::string_view suffix = "signature";
  std::vector<Candidate> candidates;
  for (const auto& [name, value] : request.headers) {
    if (name == "webhook-signature") {
      add_standard(value, candidates);
      continue;
    }
    if (!name.ends_with(suffix)) {
      continue;
    }
    const std::string prefix = name.substr(0, name.size() - suffix.size());
    if (value.starts_with("t=")) {
      candidates.push_back({SignatureScheme::t_v1, prefix});
    } else if (value.starts_with("sha256=")) {
      // The header does not say whether the time is part of it: the stricter one comes first.
      candidates.push_back({SignatureScheme::sha256_timestamp, prefix});
      candidates.push_back({SignatureScheme::sha256_body, prefix});
    }
  }
  return candidates;
}

/// As the receiver's library takes it: who knows the secret can say the public key.
std::string key_text(SignatureScheme scheme, const Secret<std::string>& secret) {
  return scheme == SignatureScheme::standard_ed25519
             ? "whpk_" + to_base64(Ed25519Key{secret}.public_key())
             : format_secret(secret);
}

verify::Outcome outcome_of(const api::HttpRequest& request, const Candidate& candidate,
                           const SignatureRules& rules, WallTime now) {
  verify::Options options;
  options.scheme = static_cast<verify::Scheme>(candidate.scheme);
  options.tolerance = rules.tolerance;
  options.header_prefix = candidate.header_prefix;
  for (const Secret<std::string>& secret : rules.secrets) {
    options.keys.push_back(key_text(candidate.scheme, secret));
  }
  return verify::Verifier{std::move(options)}.check(request.headers, request.body,
                                                    to_unix_seconds(now));
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
  const std::vector<Candidate> candidates = candidates_of(request);
  SignatureFinding finding{
      .verdict = candidates.empty() ? SignatureVerdict::missing : SignatureVerdict::wrong,
      .scheme = {}};
  for (const Candidate& candidate : candidates) {
    const verify::Outcome outcome = outcome_of(request, candidate, rules, now);
    const bool stale = outcome == verify::Outcome::timestamp_too_old ||
                       outcome == verify::Outcome::timestamp_too_new;
    if (outcome != verify::Outcome::valid && !stale) {
      continue;
    }
    finding.scheme = to_string(candidate.scheme);
    finding.verdict = stale ? SignatureVerdict::stale : SignatureVerdict::valid;
    if (!stale) {
      return finding;
    }
  }
  return finding;
}

}  // namespace postrider::cli
