#include "api/json/operation_json.h"
#include "api/resources/answers.h"
#include "api/resources/operation_start.h"
#include "api/resources/resources.h"

namespace postrider::api {

Awaitable<Reply> replay_webhook(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(const WebhookRef webhook, path_webhook(context.services.snapshots, request));
  POSTRIDER_CO_TRY(OperationAsked asked,
                   read_replay(request, *webhook, context.services.clock.now().wall));
  if (!webhook->active) {
    co_return tl::make_unexpected(
        conflict("webhook_inactive",
                 "The webhook is not active. Set `active` to true, then replay what it "
                 "missed."));
  }
  auto pending = start_operation(context, {.kind = OperationKind::replay,
                                           .spec = std::move(asked.spec),
                                           .action = "webhook.replay",
                                           .dry_run = asked.dry_run});
  co_return co_await std::move(pending);
}

}  // namespace postrider::api
