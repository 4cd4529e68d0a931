#include "runtime/delivery/target.h"

#include <utility>

namespace postrider {

Result<Target> make_target(std::shared_ptr<const Webhook> webhook, const TargetOptions& options) {
  POSTRIDER_TRY(TargetUrl url, parse_target_url(webhook->url, options.url_policy));
  auto request = std::make_shared<const RequestTemplate>(*webhook, url, options.user_agent);
  const SignatureScheme scheme = webhook->signature.scheme;
  std::vector<TimedSign> signs = {{.sign = options.make_sign(scheme, webhook->secret)}};
  for (const OldSecret& old : webhook->old_secrets) {
    signs.push_back({.sign = options.make_sign(scheme, old.key), .ends_at = old.ends_at});
  }
  return Target{.webhook = std::move(webhook),
                .url = std::move(url),
                .request = std::move(request),
                .signs = std::move(signs)};
}

}  // namespace postrider
