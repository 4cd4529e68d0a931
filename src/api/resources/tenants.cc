#include <algorithm>

#include "api/json/email_json.h"
#include "api/json/field_reader.h"
#include "api/json/json_body.h"
#include "api/json/list_answer.h"
#include "api/json/memory_page.h"
#include "api/json/policy_json.h"
#include "api/json/query_reader.h"
#include "api/json/registry_json.h"
#include "api/resources/audit.h"
#include "api/resources/resources.h"
#include "api/resources/tenant_text.h"

namespace postrider::api {
namespace {

constexpr TextRule name_rule{.bytes_max = 256, .multiline = false};
constexpr std::size_t metadata_bytes_max = std::size_t{16} * 1024;

// A limit of 0 locks the tenant.
constexpr IntegerRange webhooks_range{0, 1'000'000};
constexpr IntegerRange events_range{0, 10'000'000};

Parsed<RegisteredTenant> read_new_tenant(const Context& context, const HttpRequest& request) {
  POSTRIDER_CHECK(check_no_query(request));
  POSTRIDER_TRY(std::vector<JsonMember> members, read_body(request));
  FieldErrors errors;
  ObjectReader reader{std::move(members), "", errors};
  RegisteredTenant tenant;
  tenant.serial = TenantSerial{context.services.ids.new_uuid()};
  tenant.created_at = context.services.clock.now().wall;
  tenant.id = read_tenant_id(reader, "id").value.value_or(tenant.serial.to_string());
  assign(reader.text("name", name_rule), tenant.name);
  assign(reader.verbatim_object("metadata", metadata_bytes_max), tenant.metadata,
         std::string{"{}"});
  assign(reader.text("pool", name_rule), tenant.pool);
  assign(read_email_addresses(reader, "contacts"), tenant.contacts, std::vector<std::string>{});
  if (tenant.id == reserved_tenant) {
    reader.refuse("id", "must not be `postrider`, which is reserved.");
  }
  reader.finish();
  if (!errors.empty()) {
    return tl::make_unexpected(errors.problem());
  }
  return tenant;
}

void read_limit(const JsonField<std::int64_t>& given,
                std::optional<std::optional<std::uint32_t>>& limit) {
  if (given.present) {
    limit.emplace(given.value ? std::optional{static_cast<std::uint32_t>(*given.value)}
                              : std::nullopt);
  }
}

/// An absent member keeps the limit, null removes it.
Parsed<LimitsChange> read_limits(const HttpRequest& request) {
  POSTRIDER_TRY(std::vector<JsonMember> members, read_body(request));
  FieldErrors errors;
  ObjectReader reader{std::move(members), "", errors};
  LimitsChange change;
  read_limit(reader.integer("webhooks_max", webhooks_range), change.webhooks_max);
  read_limit(reader.integer("events_per_minute", events_range), change.events_per_minute);
  read_limit(reader.integer("timeout_ms_max", timeout_ms_range), change.timeout_ms_max);
  read_limit(reader.integer("max_in_flight_max", in_flight_range), change.max_in_flight_max);
  reader.finish();
  if (!errors.empty()) {
    return tl::make_unexpected(errors.problem());
  }
  return change;
}

Parsed<std::vector<std::string>> read_contacts(const HttpRequest& request) {
  POSTRIDER_TRY(std::vector<JsonMember> members, read_body(request));
  FieldErrors errors;
  ObjectReader reader{std::move(members), "", errors};
  JsonField<std::vector<std::string>> contacts = read_email_addresses(reader, "contacts");
  if (!reader.raw("contacts")) {
    reader.refuse("contacts", "is required: a list of e-mail addresses, which may be empty.");
  }
  reader.finish();
  if (!errors.empty()) {
    return tl::make_unexpected(errors.problem());
  }
  return std::move(contacts.value).value_or(std::vector<std::string>{});
}

Parsed<TenantRef> path_tenant(const Snapshots& snapshots, const HttpRequest& request) {
  const auto found = request.path_parameters.find("id");
  const TenantId id = found == request.path_parameters.end() ? TenantId{} : found->second;
  TenantRef tenant = snapshots.access()->find_tenant(id);
  if (tenant == nullptr) {
    return tl::make_unexpected(not_found("tenant", id));
  }
  return tenant;
}

std::string limits_text(const TenantLimits& limits) {
  std::string body;
  JsonWriter writer{body};
  write_limits(writer, limits);
  return body;
}

/// The requested change, for the audit log.
std::string change_text(const LimitsChange& change) {
  std::string detail;
  JsonWriter writer{detail};
  writer.open_object();
  if (change.webhooks_max) {
    writer.member("webhooks_max", *change.webhooks_max);
  }
  if (change.events_per_minute) {
    writer.member("events_per_minute", *change.events_per_minute);
  }
  if (change.timeout_ms_max) {
    writer.member("timeout_ms_max", *change.timeout_ms_max);
  }
  if (change.max_in_flight_max) {
    writer.member("max_in_flight_max", *change.max_in_flight_max);
  }
  writer.close_object();
  return detail;
}

std::string tenant_text(const RegisteredTenant& tenant) {
  std::string body;
  JsonWriter writer{body};
  write_registered_tenant(writer, tenant);
  return body;
}

std::string write_page(const ListedById<TenantRef>& page) {
  const auto write_item = [](JsonWriter& writer, const TenantRef& tenant) {
    write_registered_tenant(writer, *tenant);
  };
  return write_list(page, ListKind::tenants, write_item);
}

/// Why a tenant is suspended; optional.
Parsed<std::optional<std::string>> read_reason(const HttpRequest& request) {
  POSTRIDER_CHECK(check_no_query(request));
  POSTRIDER_TRY(std::vector<JsonMember> members, read_optional_body(request));
  FieldErrors errors;
  ObjectReader reader{std::move(members), "", errors};
  JsonField<std::string> reason = reader.text("reason", name_rule);
  reader.finish();
  if (!errors.empty()) {
    return tl::make_unexpected(errors.problem());
  }
  return std::move(reason.value);
}

std::string reason_text(const std::optional<std::string>& reason) {
  std::string detail;
  JsonWriter writer{detail};
  writer.open_object();
  writer.member("reason", reason);
  writer.close_object();
  return detail;
}

/// Makes the change of one tenant and answers with the tenant.
Awaitable<Reply> change_tenant(Context context, RegistryChange change, AuditEntry entry) {
  const TenantId id = entry.subject;
  auto pending = context.services.access.change_registry(std::move(change), std::move(entry),
                                                         context.request_key);
  const Result<void> changed = co_await std::move(pending);
  if (!changed) {
    co_return tl::make_unexpected(to_problem(changed.error(), "tenant", id));
  }
  const TenantRef tenant = context.services.snapshots.access()->find_tenant(id);
  if (tenant == nullptr) {  // Deleted meanwhile.
    co_return tl::make_unexpected(not_found("tenant", id));
  }
  co_return json_answer(200, tenant_text(*tenant));
}

}  // namespace

Awaitable<Reply> list_tenants(Context context, HttpRequest request) {
  QueryReader query{request};
  POSTRIDER_CO_TRY(const IdPage asked, read_id_page(query, ListKind::tenants));
  co_return json_answer(
      200, write_page(select_page(context.services.snapshots.access()->tenants(), asked)));
}

Awaitable<Reply> create_tenant(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(const RegisteredTenant tenant, read_new_tenant(context, request));
  AuditEntry entry = audit_entry(
      context, {.action = "tenant.create", .subject = tenant.id, .tenant_id = tenant.id});
  RegistryChange change = AddTenant{tenant};
  auto pending = context.services.access.change_registry(std::move(change), std::move(entry),
                                                         context.request_key);
  const Result<void> added = co_await std::move(pending);
  if (!added && added.error().code == Errc::conflict) {
    co_return tl::make_unexpected(conflict("tenant_exists", added.error().message));
  }
  if (!added) {
    co_return tl::make_unexpected(to_problem(added.error()));
  }
  HttpResponse response = json_answer(201, tenant_text(tenant));
  response.headers.emplace_back("Location", "/v1/tenants/" + tenant.id);
  co_return response;
}

Awaitable<Reply> get_tenant(Context context, HttpRequest request) {
  POSTRIDER_CO_CHECK(check_no_query(request));
  POSTRIDER_CO_TRY(const TenantRef tenant, path_tenant(context.services.snapshots, request));
  co_return json_answer(200, tenant_text(*tenant));
}

Awaitable<Reply> delete_tenant(Context context, HttpRequest request) {
  QueryReader query{request};
  const bool force = query.boolean("force").value_or(false);
  POSTRIDER_CO_CHECK(query.finish());
  POSTRIDER_CO_TRY(const TenantRef tenant, path_tenant(context.services.snapshots, request));
  const TenantId id = tenant->id;
  AuditEntry entry =
      audit_entry(context, {.action = "tenant.delete",
                            .subject = id,
                            .tenant_id = id,
                            .detail = force ? R"({"force":true})" : R"({"force":false})"});
  auto pending = context.services.access.remove_tenant(id, force, std::move(entry));
  const Result<void> removed = co_await std::move(pending);
  if (!removed && removed.error().code == Errc::not_found) {
    co_return tl::make_unexpected(not_found("tenant", id));
  }
  if (!removed && removed.error().code == Errc::conflict) {
    co_return tl::make_unexpected(conflict("tenant_has_webhooks", removed.error().message));
  }
  if (!removed) {
    co_return tl::make_unexpected(to_problem(removed.error()));
  }
  co_return HttpResponse{.status = 204, .content_type = "", .headers = {}, .body = {}};
}

Awaitable<Reply> get_tenant_limits(Context context, HttpRequest request) {
  POSTRIDER_CO_CHECK(check_no_query(request));
  POSTRIDER_CO_TRY(const TenantRef tenant, path_tenant(context.services.snapshots, request));
  co_return json_answer(200, limits_text(tenant->limits));
}

Awaitable<Reply> put_tenant_limits(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(const TenantRef tenant, path_tenant(context.services.snapshots, request));
  POSTRIDER_CO_TRY(const LimitsChange limits, read_limits(request));
  const TenantId id = tenant->id;
  AuditEntry entry = audit_entry(
      context,
      {.action = "tenant.limits", .subject = id, .tenant_id = id, .detail = change_text(limits)});
  RegistryChange change = SetLimits{id, limits};
  auto pending =
      context.services.access.change_registry(std::move(change), std::move(entry), std::nullopt);
  const Result<void> set = co_await std::move(pending);
  if (!set) {
    co_return tl::make_unexpected(to_problem(set.error(), "tenant", id));
  }
  co_return json_answer(200, limits_text(context.services.snapshots.access()->limits_of(id)));
}

Awaitable<Reply> put_tenant_contacts(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(const TenantRef tenant, path_tenant(context.services.snapshots, request));
  POSTRIDER_CO_TRY(std::vector<std::string> contacts, read_contacts(request));
  AuditEntry entry = audit_entry(
      context, {.action = "tenant.contacts", .subject = tenant->id, .tenant_id = tenant->id});
  SetContacts change{.tenant_id = tenant->id, .contacts = std::move(contacts)};
  auto pending = change_tenant(context, std::move(change), std::move(entry));
  co_return co_await std::move(pending);
}

Awaitable<Reply> suspend_tenant(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(const TenantRef tenant, path_tenant(context.services.snapshots, request));
  POSTRIDER_CO_TRY(const std::optional<std::string> reason, read_reason(request));
  AuditEntry entry = audit_entry(context, {.action = "tenant.suspend",
                                           .subject = tenant->id,
                                           .tenant_id = tenant->id,
                                           .detail = reason_text(reason)});
  SuspendTenant change{
      .tenant_id = tenant->id, .at = context.services.clock.now().wall, .reason = reason};
  auto pending = change_tenant(context, std::move(change), std::move(entry));
  co_return co_await std::move(pending);
}

Awaitable<Reply> resume_tenant(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(const TenantRef tenant, path_tenant(context.services.snapshots, request));
  POSTRIDER_CO_CHECK(check_no_parameters(request));
  AuditEntry entry = audit_entry(
      context, {.action = "tenant.resume", .subject = tenant->id, .tenant_id = tenant->id});
  auto pending = change_tenant(context, ResumeTenant{tenant->id}, std::move(entry));
  co_return co_await std::move(pending);
}

}  // namespace postrider::api
