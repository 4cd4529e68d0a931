#include "adapters/openssl/digest.h"
#include "api/json/field_reader.h"
#include "api/json/json_body.h"
#include "api/json/list_answer.h"
#include "api/json/memory_page.h"
#include "api/json/query_reader.h"
#include "api/json/registry_json.h"
#include "api/resources/audit.h"
#include "api/resources/key_text.h"
#include "api/resources/publishing.h"
#include "api/resources/resources.h"

namespace postrider::api {
namespace {

constexpr TextRule name_rule{.bytes_max = 256, .multiline = false};

std::optional<KeyScope> parse_scope(std::string_view text) {
  for (const KeyScope scope :
       {KeyScope::admin, KeyScope::publish, KeyScope::read, KeyScope::tenant}) {
    if (to_string(scope) == text) {
      return scope;
    }
  }
  return std::nullopt;
}

void check_tenant(ObjectReader& reader, const ApiKey& key) {
  const bool named = !key.tenant_id.empty();
  if (key.scope == KeyScope::tenant && !named) {
    reader.refuse("tenant_id", "is required with scope tenant.");
  }
  if (key.scope != KeyScope::tenant && named) {
    reader.refuse("tenant_id", "has no meaning without scope tenant.");
  }
}

Parsed<ApiKey> read_key(const Context& context, const HttpRequest& request) {
  if (std::optional<Problem> problem = query_problem(request)) {
    return tl::make_unexpected(*std::move(problem));
  }
  Parsed<std::vector<JsonMember>> members = read_body(request);
  if (!members) {
    return tl::make_unexpected(members.error());
  }
  FieldErrors errors;
  ObjectReader reader{*std::move(members), "", errors};
  ApiKey key{.id = KeyId{context.service->new_uuid()},
             .name = {},
             .sha256 = {},
             .created_at = context.service->now().wall};
  assign(reader.text("name", name_rule), key.name, std::string{});
  const auto scope = reader.choice("scope", parse_scope, "admin, publish, read, tenant");
  if (reader.raw("scope").value_or("null") == "null") {
    reader.refuse("scope", "is required: admin, publish, read or tenant.");
  }
  key.scope = scope.value.value_or(KeyScope::read);
  assign(reader.text("tenant_id", name_rule), key.tenant_id, TenantId{});
  key.expires_at = reader.time("expires_at").value;
  if (key.expires_at && *key.expires_at <= key.created_at) {
    reader.refuse("expires_at", "must be in the future.");
  }
  if (scope.value) {
    check_tenant(reader, key);
  }
  reader.finish();
  if (!errors.empty()) {
    return tl::make_unexpected(errors.problem());
  }
  if (key.scope == KeyScope::tenant) {
    if (std::optional<Problem> problem = unknown_tenant(context, key.tenant_id)) {
      return tl::make_unexpected(*std::move(problem));
    }
  }
  return key;
}

std::string write_page(const ListedById<KeyRef>& page) {
  const auto write_item = [](JsonWriter& writer, const KeyRef& key) {
    write_api_key(writer, *key);
    writer.close_object();
  };
  return write_list(page, ListKind::api_keys, write_item);
}

/// What the audit log is told: everything about the key but the key.
std::string describe(const ApiKey& key) {
  std::string detail;
  JsonWriter writer{detail};
  writer.open_object();
  writer.member("name", key.name);
  writer.member("scope", to_string(key.scope));
  writer.member("expires_at", key.expires_at);
  writer.close_object();
  return detail;
}

Parsed<KeyRef> path_key(const Context& context, const HttpRequest& request) {
  const Parsed<KeyId> id = path_id<KeyId>(request, "id", "API key");
  if (!id) {
    return tl::make_unexpected(id.error());
  }
  KeyRef key = context.service->access()->find_key(*id);
  if (key == nullptr) {
    return tl::make_unexpected(not_found("API key", id->to_string()));
  }
  return key;
}

}  // namespace

Awaitable<HttpResponse> list_api_keys(Context context, HttpRequest request) {
  QueryReader query{request};
  const Parsed<IdPage> asked = read_id_page(query, ListKind::api_keys);
  if (!asked) {
    co_return render(asked.error());
  }
  co_return json_answer(200, write_page(select_page(context.service->access()->keys(), *asked)));
}

Awaitable<HttpResponse> create_api_key(Context context, HttpRequest request) {
  Parsed<ApiKey> key = read_key(context, request);
  if (!key) {
    co_return render(key.error());
  }
  const Secret<std::string> text = make_key_text(key_prefix);
  key->sha256 = sha256(text.reveal());
  AuditEntry entry = audit_entry(context, {.action = "api_key.create",
                                           .subject = key->id.to_string(),
                                           .tenant_id = key->tenant_id,
                                           .detail = describe(*key)});
  RegistryChange change = AddKey{*key};
  auto pending = context.service->change_registry(std::move(change), std::move(entry));
  const Result<void> added = co_await std::move(pending);
  if (!added) {
    co_return render(to_problem(added.error()));
  }
  std::string body;
  JsonWriter writer{body};
  write_api_key(writer, AccessKey{*key});
  writer.member("key", text.reveal());
  writer.close_object();
  HttpResponse response = json_answer(201, std::move(body));
  response.headers.emplace_back("Location", "/v1/api-keys/" + key->id.to_string());
  response.headers.emplace_back("Cache-Control", "no-store");
  co_return response;
}

Awaitable<HttpResponse> get_api_key(Context context, HttpRequest request) {
  if (const std::optional<Problem> problem = query_problem(request)) {
    co_return render(*problem);
  }
  const Parsed<KeyRef> key = path_key(context, request);
  if (!key) {
    co_return render(key.error());
  }
  std::string body;
  JsonWriter writer{body};
  write_api_key(writer, **key);
  writer.close_object();
  co_return json_answer(200, std::move(body));
}

Awaitable<HttpResponse> delete_api_key(Context context, HttpRequest request) {
  if (const std::optional<Problem> problem = query_problem(request)) {
    co_return render(*problem);
  }
  const Parsed<KeyRef> key = path_key(context, request);
  if (!key) {
    co_return render(key.error());
  }
  const ApiKey& known = (*key)->key();
  AuditEntry entry = audit_entry(context, {.action = "api_key.delete",
                                           .subject = known.id.to_string(),
                                           .tenant_id = known.tenant_id,
                                           .detail = describe(known)});
  RegistryChange change = RemoveKey{known.id};
  auto pending = context.service->change_registry(std::move(change), std::move(entry));
  const Result<void> removed = co_await std::move(pending);
  if (!removed && removed.error().code == Errc::not_found) {
    co_return render(not_found("API key", known.id.to_string()));
  }
  if (!removed && removed.error().code == Errc::conflict) {
    co_return render(conflict("last_admin_key", removed.error().message));
  }
  if (!removed) {
    co_return render(to_problem(removed.error()));
  }
  co_return HttpResponse{.status = 204, .content_type = "", .headers = {}, .body = {}};
}

}  // namespace postrider::api
