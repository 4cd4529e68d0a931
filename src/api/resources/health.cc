#include <algorithm>

#include "api/json/json_writer.h"
#include "api/resources/answers.h"
#include "api/resources/resources.h"

namespace postrider::api {
namespace {

bool is_verbose(const HttpRequest& request) {
  return std::ranges::any_of(request.query, [](const auto& parameter) {
    return parameter.first == "verbose" && parameter.second != "false" && parameter.second != "0";
  });
}

/// Without reasons and numbers: anybody may ask.
std::string describe_sources(const SourceControl& control) {
  std::string body;
  JsonWriter writer{body};
  writer.open_object();
  writer.member("status", "ready");
  writer.key("sources");
  writer.open_array();
  for (const SourceView& source : control.sources()) {
    writer.open_object();
    writer.member("name", source.name);
    writer.member("kind", source.kind);
    writer.member("state", to_string(source.state));
    writer.member("since", source.since);
    writer.close_object();
  }
  writer.close_array();
  writer.close_object();
  return body;
}

}  // namespace

/// Liveness: the process answers.
Awaitable<Reply> get_health(Context, HttpRequest) {
  co_return json_answer(
      200, R"({"status":"ok","service":"postrider","version":")" POSTRIDER_VERSION R"("})");
}

/// A source of events that is away does not make the server unready.
Awaitable<Reply> get_readiness(Context context, HttpRequest request) {
  const std::optional<std::string> reason = context.services.status.not_ready();
  if (!reason) {
    co_return json_answer(200, is_verbose(request) ? describe_sources(context.services.sources)
                                                   : R"({"status":"ready"})");
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
