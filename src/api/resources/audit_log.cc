#include "core/request/signature.h"

#include "api/json/list_answer.h"
#include "api/json/webhook_json.h"
#include "api/resources/resources.h"

namespace postrider::api {
namespace {

// One walk of this length takes a reader about a second. Longer logs are verified in steps.
constexpr std::uint32_t walk_entries_max = 100'000;

struct AuditQuery {
  AuditFilter filter;
  Page page;
};

Parsed<AuditQuery> read_query(const HttpRequest& request) {
  QueryReader query{request};
  AuditQuery asked;
  asked.filter = {.actor = query.text("actor"),
                  .action = query.text("action"),
                  .subject = query.text("subject"),
                  .tenant_id = query.text("tenant_id"),
                  .from = query.time("from"),
                  .to = query.end_time("to")};
  POSTRIDER_TRY(const Page page, read_history_page(query, ListKind::audit));
  asked.page = page;
  return asked;
}

void write_record(JsonWriter& writer, const AuditRecord& record) {
  const AuditEntry& entry = record.entry;
  writer.open_object();
  writer.member("sequence", record.sequence);
  writer.member("at", entry.at);
  writer.member("actor", entry.actor);
  writer.member("actor_name", entry.actor_name);
  writer.member("action", entry.action);
  writer.member("subject", entry.subject);
  write_tenant_id(writer, entry.tenant_id);
  writer.member_bytes("remote_ip", entry.remote_ip);
  writer.member_bytes("request_id", entry.request_id);
  writer.member_raw("detail", entry.detail);
  writer.member("hash", to_hex(record.hash));
  writer.close_object();
}

Result<Listed<AuditRecord>> read_records(Reader& reader, const AuditQuery& asked) {
  return reader.audit->list(asked.filter, asked.page);
}

std::string write_page(const Listed<AuditRecord>& listed) {
  return write_list(listed, ListKind::audit, write_record);
}

std::string write_walk(const ChainWalk& walk) {
  std::string body;
  JsonWriter writer{body};
  writer.open_object();
  writer.member("holds", !walk.broken_at.has_value());
  writer.member("checked", walk.checked);
  writer.member("last_sequence", walk.last);
  writer.member("head", to_hex(walk.head));
  writer.member("broken_at", walk.broken_at);
  writer.member("next_after", walk.more ? std::optional{walk.last} : std::nullopt);
  writer.close_object();
  return body;
}

}  // namespace

Awaitable<Reply> list_audit_log(Context context, HttpRequest request) {
  return answer_list(std::move(context), read_query(request), read_records, write_page);
}

Awaitable<Reply> verify_audit_log(Context context, HttpRequest request) {
  QueryReader query{request};
  const std::int64_t after = query.integer("after", {0, std::int64_t{1} << 53}).value_or(0);
  POSTRIDER_CO_CHECK(query.finish());
  const auto walk = [after](Reader& reader) {
    return reader.audit->verify(after, walk_entries_max);
  };
  auto pending = context.queries().read(walk);
  const Result<ChainWalk> walked = co_await std::move(pending);
  if (!walked) {
    co_return tl::make_unexpected(
        to_problem(walked.error(), "audit log entry", std::to_string(after)));
  }
  co_return json_answer(200, write_walk(*walked));
}

}  // namespace postrider::api
