#include "api/resources/answers.h"
#include "api/resources/resources.h"

namespace postrider::api {

/// Liveness: the process answers.
Awaitable<Reply> get_health(Context, HttpRequest) {
  co_return json_answer(
      200, R"({"status":"ok","service":"postrider","version":")" POSTRIDER_VERSION R"("})");
}

Awaitable<Reply> get_readiness(Context context, HttpRequest) {
  const std::optional<std::string> reason = context.services.status.not_ready();
  if (!reason) {
    co_return json_answer(200, R"({"status":"ready"})");
  }
  Problem problem{
      .status = 503, .code = "not_ready", .title = "Not ready", .detail = *reason, .errors = {}};
  co_return tl::make_unexpected(std::move(problem));
}

Awaitable<Reply> get_metrics(Context context, HttpRequest) {
  co_return HttpResponse{.status = 200,
                         .content_type = "text/plain; version=0.0.4; charset=utf-8",
                         .headers = {},
                         .body = context.services.status.metrics_text()};
}

}  // namespace postrider::api
