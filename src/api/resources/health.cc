#include "api/resources/answers.h"
#include "api/resources/resources.h"

namespace postrider::api {

/// The process answers: nothing more is asked of it.
Awaitable<HttpResponse> get_health(Context, HttpRequest) {
  co_return json_answer(200, R"({"status":"ok","version":")" POSTRIDER_VERSION R"("})");
}

Awaitable<HttpResponse> get_readiness(Context context, HttpRequest) {
  const std::optional<std::string> reason = context.service->not_ready();
  if (!reason) {
    co_return json_answer(200, R"({"status":"ready"})");
  }
  co_return render(
      {.status = 503, .code = "not_ready", .title = "Not ready", .detail = *reason, .errors = {}});
}

Awaitable<HttpResponse> get_metrics(Context context, HttpRequest) {
  co_return HttpResponse{.status = 200,
                         .content_type = "text/plain; version=0.0.4; charset=utf-8",
                         .headers = {},
                         .body = context.service->metrics_text()};
}

}  // namespace postrider::api
