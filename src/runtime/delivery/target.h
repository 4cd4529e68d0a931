// What is needed to send requests to a webhook. Rebuilt when the webhook changes. One thread.
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
#include "engine/shard/messages.h"

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
  std::shared_ptr<const RequestTemplate> request;  // Shared: attempts keep its shape.
  std::vector<TimedSign> signs;                    // The current secret first, then old ones.

  [[nodiscard]] RequestShapeRef stored_shape() const { return {request, &request->stored_shape()}; }
};

/// Fails if the URL policy does not allow the webhook's URL. The policy may have become stricter
/// since the webhook was stored.
[[nodiscard]] Result<Target> make_target(std::shared_ptr<const Webhook> webhook,
                                         const TargetOptions& options);

}  // namespace postrider
