#include "cli/client/signature_check.h"

#include <array>
#include <optional>

#include <postrider/verify.h>

#include "core/request/secret_text.h"

namespace postrider::cli {
namespace {

/// A scheme that may have produced a header.
struct Candidate {
  SignatureScheme scheme = SignatureScheme::standard;
  std::string header_prefix;  // Only for schemes that are not standard.
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
      // The header does not tell the two schemes apart. Try the stricter one first.
      candidates.push_back({SignatureScheme::sha256_timestamp, prefix});
      candidates.push_back({SignatureScheme::sha256_body, prefix});
    }
  }
  return candidates;
}

/// The key in the format of the verifier. The public key is derived from the secret. Returns
/// nullopt if the text is not a secret of the scheme.
std::optional<std::string> key_text(const Crypto& crypto, SignatureScheme scheme,
                                    const Secret<std::string>& text) {
  if (scheme != SignatureScheme::standard_ed25519) {
    return text.reveal();
  }
  const Result<Secret<std::string>> secret = parse_secret(scheme, text.reveal());
  return secret ? std::optional{"whpk_" + to_base64(crypto.ed25519_public_key(*secret))}
                : std::nullopt;
}

verify::Options options_of(const Candidate& candidate, const SignatureRules& rules,
                           const Crypto& crypto) {
  verify::Options options;
  options.scheme = static_cast<verify::Scheme>(candidate.scheme);
  options.tolerance = rules.tolerance;
  options.header_prefix = candidate.header_prefix;
  for (const Secret<std::string>& secret : rules.secrets) {
    if (std::optional<std::string> key = key_text(crypto, candidate.scheme, secret)) {
      options.keys.push_back(*std::move(key));
    }
  }
  return options;
}

}  // namespace

std::string_view to_string(SignatureVerdict verdict) {
  constexpr std::array<std::string_view, 5> names = {"unchecked", "valid", "missing", "wrong",
                                                     "stale"};
  return names.at(static_cast<std::size_t>(verdict));
}

SignatureFinding check_signature(const api::HttpRequest& request, const SignatureRules& rules,
                                 const Crypto& crypto, WallTime now) {
  if (rules.secrets.empty()) {
    return {};
  }
  const std::vector<Candidate> candidates = candidates_of(request);
  SignatureFinding finding{
      .verdict = candidates.empty() ? SignatureVerdict::missing : SignatureVerdict::wrong,
      .scheme = {}};
  for (const Candidate& candidate : candidates) {
    const verify::Outcome outcome = verify::Verifier{options_of(candidate, rules, crypto)}.check(
        request.headers, request.body, to_unix_seconds(now));
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
