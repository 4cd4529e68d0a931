// What is needed to send to a webhook; made anew when it changes. One io thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/model/webhook.h"
#include "core/net/target_url.h"
#include "core/request/request.h"
#include "engine/shard/shard.h"

namespace postrider {

using MakeSign = std::function<Sign(SignatureScheme scheme, const Secret<std::string>& secret)>;

struct TargetOptions {
  const UrlPolicy& url_policy;
  std::string_view user_agent;
  const MakeSign& make_sign;
};

struct Target {
  std::shared_ptr<const Webhook> webhook;
  TargetUrl url;
  std::shared_ptr<const RequestTemplate> request;  // Attempts refer to a part of it for a while.
  std::vector<TimedSign> signs;  // The current secret's first, then the old ones'.

  [[nodiscard]] RequestShapeRef kept_shape() const { return {request, &request->kept_shape()}; }
};

/// Fails when the URL policy does not allow the webhook's URL: it may have become stricter since
/// the webhook was stored.
[[nodiscard]] Result<Target> make_target(std::shared_ptr<const Webhook> webhook,
                                         const TargetOptions& options);

}  // namespace postrider
