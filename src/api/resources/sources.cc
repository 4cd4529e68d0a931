#include "api/json/json_body.h"
#include "api/json/json_writer.h"
#include "api/json/query_reader.h"
#include "api/resources/answers.h"
#include "api/resources/audit.h"
#include "api/resources/resources.h"

namespace postrider::api {
namespace {

void write_lag(JsonWriter& writer, const SourceLag& lag) {
  writer.key("lag");
  writer.open_object();
  writer.member("messages", lag.messages);
  writer.member("oldest_age_ms",
                lag.oldest_age ? std::optional{lag.oldest_age->count()} : std::nullopt);
  writer.close_object();
}

void write_source(JsonWriter& writer, const SourceView& source) {
  writer.open_object();
  writer.member("name", source.name);
  writer.member("kind", source.kind);
  writer.member("state", to_string(source.state));
  writer.member("since", source.since);
  writer.key("reason");
  if (source.reason) {
    writer.bytes(*source.reason);  // Contains words of another server.
  } else {
    writer.value(nullptr);
  }
  write_lag(writer, source.lag);
  writer.member("received", source.counts.received);
  writer.member("stored", source.counts.stored);
  writer.member("duplicates", source.counts.duplicates);
  writer.member("rejected", source.counts.rejected);
  writer.member("deferred", source.counts.deferred);
  writer.member("reconnects", source.counts.reconnects);
  writer.member("last_event_at", source.last_event_at);
  writer.close_object();
}

Awaitable<Reply> set_paused(Context context, HttpRequest request, bool paused) {
  POSTRIDER_CO_CHECK(check_no_parameters(request));
  const auto found = request.path_parameters.find("name");
  const std::string name = found == request.path_parameters.end() ? std::string{} : found->second;
  AuditEntry entry =
      audit_entry(context, {.action = paused ? "source.pause" : "source.resume", .subject = name});
  auto pending = context.services.sources.pause_source(name, paused, std::move(entry));
  const Result<SourceView> source = co_await std::move(pending);
  if (!source) {
    co_return tl::make_unexpected(to_problem(source.error(), "source", name));
  }
  std::string body;
  JsonWriter writer{body};
  write_source(writer, *source);
  co_return json_answer(200, std::move(body));
}

}  // namespace

Awaitable<Reply> list_sources(Context context, HttpRequest request) {
  POSTRIDER_CO_CHECK(check_no_query(request));
  std::string body;
  JsonWriter writer{body};
  writer.open_object();
  writer.key("data");
  writer.open_array();
  for (const SourceView& source : context.services.sources.sources()) {
    write_source(writer, source);
  }
  writer.close_array();
  writer.close_object();
  co_return json_answer(200, std::move(body));
}

Awaitable<Reply> pause_source(Context context, HttpRequest request) {
  return set_paused(std::move(context), std::move(request), true);
}

Awaitable<Reply> resume_source(Context context, HttpRequest request) {
  return set_paused(std::move(context), std::move(request), false);
}

}  // namespace postrider::api
