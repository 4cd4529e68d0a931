#include "api/json/operation_json.h"
#include "api/resources/answers.h"
#include "api/resources/operation_start.h"
#include "api/resources/resources.h"

namespace postrider::api {

Awaitable<HttpResponse> replay_webhook(Context context, HttpRequest request) {
  const Parsed<WebhookRef> webhook = path_webhook(context, request);
  if (!webhook) {
    co_return render(webhook.error());
  }
  Parsed<OperationSpec> spec = read_replay(request, **webhook, context.service->now().wall);
  if (!spec) {
    co_return render(spec.error());
  }
  if (!(*webhook)->active) {
    co_return render(conflict("webhook_inactive",
                              "The webhook is switched off and wants nothing; set `active` to "
                              "true, then replay what it missed."));
  }
  auto pending = start_operation(
      context,
      {.kind = OperationKind::replay, .spec = *std::move(spec), .action = "webhook.replay"});
  co_return co_await std::move(pending);
}

}  // namespace postrider::api
