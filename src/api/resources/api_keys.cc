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

/// A tenant creates keys for itself only.
void check_own(ObjectReader& reader, const ApiKey& key, const TenantId& own) {
  if (key.scope != KeyScope::tenant) {
    reader.refuse("scope", "must be omitted or be tenant: this API key belongs to a tenant.");
  }
  if (key.tenant_id != own) {
    reader.refuse("tenant_id", "must be omitted or be the tenant of this API key.");
  }
}

void check_tenant(ObjectReader& reader, const ApiKey& key, bool has_role) {
  const bool named = !key.tenant_id.empty();
  if (key.scope == KeyScope::tenant && !named) {
    reader.refuse("tenant_id", "is required with scope tenant.");
  }
  if (key.scope != KeyScope::tenant && named) {
    reader.refuse("tenant_id", "is only allowed with scope tenant.");
  }
  if (key.scope != KeyScope::tenant && has_role) {
    reader.refuse("role", "is only allowed with scope tenant.");
  }
}

Parsed<ApiKey> read_key(const Context& context, const HttpRequest& request) {
  POSTRIDER_CHECK(check_no_query(request));
  POSTRIDER_TRY(std::vector<JsonMember> members, read_body(request));
  FieldErrors errors;
  ObjectReader reader{std::move(members), "", errors};
  ApiKey key{.id = KeyId{context.services.ids.new_uuid()},
             .name = {},
             .sha256 = {},
             .created_at = context.services.clock.now().wall};
  assign(reader.text("name", name_rule), key.name, std::string{});
  const std::optional<TenantId>& own = context.caller.tenant_id;
  const auto scope = reader.choice("scope", parse_scope, "admin, publish, read, tenant");
  if (reader.raw("scope").value_or("null") == "null" && !own) {
    reader.refuse("scope", "is required: admin, publish, read or tenant.");
  }
  key.scope = scope.value.value_or(own ? KeyScope::tenant : KeyScope::read);
  key.tenant_id = own.value_or(TenantId{});
  assign(reader.text("tenant_id", name_rule), key.tenant_id, own.value_or(TenantId{}));
  const auto role = reader.choice("role", parse_key_role, "admin, viewer");
  key.role = role.value.value_or(KeyRole::admin);
  key.expires_at = reader.time("expires_at").value;
  if (key.expires_at && *key.expires_at <= key.created_at) {
    reader.refuse("expires_at", "must be in the future.");
  }
  if (own) {
    check_own(reader, key, *own);
  } else if (scope.value) {
    check_tenant(reader, key, role.value.has_value());
  }
  reader.finish();
  if (!errors.empty()) {
    return tl::make_unexpected(errors.problem());
  }
  if (key.scope == KeyScope::tenant) {
    POSTRIDER_CHECK(check_tenant_known(context, key.tenant_id));
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

/// The detail for the audit log. Never the key itself.
std::string describe(const ApiKey& key) {
  std::string detail;
  JsonWriter writer{detail};
  writer.open_object();
  writer.member("name", key.name);
  writer.member("scope", to_string(key.scope));
  writer.member("role", role_of(key));
  writer.member("expires_at", key.expires_at);
  writer.close_object();
  return detail;
}

Parsed<KeyRef> path_key(const Snapshots& snapshots, const HttpRequest& request) {
  POSTRIDER_TRY(const KeyId id, path_id<KeyId>(request, "id", "API key"));
  const std::map<KeyId, KeyRef> keys = snapshots.api_keys();
  const auto found = keys.find(id);
  if (found == keys.end()) {
    return tl::make_unexpected(not_found("API key", id.to_string()));
  }
  return found->second;
}

}  // namespace

Awaitable<Reply> list_api_keys(Context context, HttpRequest request) {
  QueryReader query{request};
  POSTRIDER_CO_TRY(const IdPage asked, read_id_page(query, ListKind::api_keys));
  co_return json_answer(200, write_page(select_page(context.services.snapshots.api_keys(), asked)));
}

Awaitable<Reply> create_api_key(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(ApiKey key, read_key(context, request));
  const Crypto& crypto = *context.options->crypto;
  const Secret<std::string> text = make_key_text(crypto, key_prefix);
  key.sha256 = crypto.sha256(text.reveal());
  AuditEntry entry = audit_entry(context, {.action = "api_key.create",
                                           .subject = key.id.to_string(),
                                           .tenant_id = key.tenant_id,
                                           .detail = describe(key)});
  RegistryChange change = AddKey{key};
  auto pending = context.services.access.change_registry(std::move(change), std::move(entry),
                                                         context.request_key);
  const Result<void> added = co_await std::move(pending);
  if (!added && added.error().code == Errc::conflict) {
    Problem problem = to_problem(added.error());
    problem.status = 429;
    problem.code = "api_key_quota_exceeded";
    problem.title = "The limit of API keys is reached";
    co_return tl::make_unexpected(std::move(problem));
  }
  if (!added) {
    co_return tl::make_unexpected(to_problem(added.error()));
  }
  std::string body;
  JsonWriter writer{body};
  write_api_key(writer, AccessKey{key});
  writer.member("key", text.reveal());
  writer.close_object();
  HttpResponse response = json_answer(201, std::move(body));
  response.headers.emplace_back("Location", "/v1/api-keys/" + key.id.to_string());
  response.headers.emplace_back("Cache-Control", "no-store");
  co_return response;
}

Awaitable<Reply> get_api_key(Context context, HttpRequest request) {
  POSTRIDER_CO_CHECK(check_no_query(request));
  POSTRIDER_CO_TRY(const KeyRef key, path_key(context.services.snapshots, request));
  std::string body;
  JsonWriter writer{body};
  write_api_key(writer, *key);
  writer.close_object();
  co_return json_answer(200, std::move(body));
}

Awaitable<Reply> delete_api_key(Context context, HttpRequest request) {
  POSTRIDER_CO_CHECK(check_no_query(request));
  POSTRIDER_CO_TRY(const KeyRef key, path_key(context.services.snapshots, request));
  const ApiKey& known = key->key();
  AuditEntry entry = audit_entry(context, {.action = "api_key.delete",
                                           .subject = known.id.to_string(),
                                           .tenant_id = known.tenant_id,
                                           .detail = describe(known)});
  RegistryChange change = RemoveKey{known.id};
  auto pending =
      context.services.access.change_registry(std::move(change), std::move(entry), std::nullopt);
  const Result<void> removed = co_await std::move(pending);
  if (!removed && removed.error().code == Errc::not_found) {
    co_return tl::make_unexpected(not_found("API key", known.id.to_string()));
  }
  if (!removed && removed.error().code == Errc::conflict) {
    co_return tl::make_unexpected(conflict("last_admin_key", removed.error().message));
  }
  if (!removed) {
    co_return tl::make_unexpected(to_problem(removed.error()));
  }
  co_return HttpResponse{.status = 204, .content_type = "", .headers = {}, .body = {}};
}

}  // namespace postrider::api
