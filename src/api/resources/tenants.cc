#include <algorithm>

#include "api/json/field_reader.h"
#include "api/json/json_body.h"
#include "api/json/list_answer.h"
#include "api/json/memory_page.h"
#include "api/json/query_reader.h"
#include "api/json/registry_json.h"
#include "api/resources/audit.h"
#include "api/resources/resources.h"
#include "api/resources/tenant_text.h"

namespace postrider::api {
namespace {

constexpr TextRule name_rule{.bytes_max = 256, .multiline = false};
constexpr std::size_t metadata_bytes_max = std::size_t{16} * 1024;

// A limit of no webhooks or no events is a way to lock a tenant.
constexpr IntegerRange webhooks_range{0, 1'000'000};
constexpr IntegerRange events_range{0, 10'000'000};

Parsed<RegisteredTenant> read_new_tenant(const Context& context, const HttpRequest& request) {
  if (std::optional<Problem> problem = query_problem(request)) {
    return tl::make_unexpected(*std::move(problem));
  }
  Parsed<std::vector<JsonMember>> members = read_body(request);
  if (!members) {
    return tl::make_unexpected(members.error());
  }
  FieldErrors errors;
  ObjectReader reader{*std::move(members), "", errors};
  RegisteredTenant tenant;
  tenant.serial = TenantSerial{context.service->new_uuid()};
  tenant.created_at = context.service->now().wall;
  tenant.id = read_tenant_id(reader, "id").value.value_or(tenant.serial.to_string());
  assign(reader.text("name", name_rule), tenant.name);
  assign(reader.verbatim_object("metadata", metadata_bytes_max), tenant.metadata,
         std::string{"{}"});
  assign(reader.text("pool", name_rule), tenant.pool);
  reader.finish();
  if (!errors.empty()) {
    return tl::make_unexpected(errors.problem());
  }
  return tenant;
}

void read_limit(const Given<std::int64_t>& given,
                std::optional<std::optional<std::uint32_t>>& limit) {
  if (given.present) {
    limit.emplace(given.value ? std::optional{static_cast<std::uint32_t>(*given.value)}
                              : std::nullopt);
  }
}

/// Absent leaves a limit, null takes it away.
Parsed<LimitsChange> read_limits(const HttpRequest& request) {
  Parsed<std::vector<JsonMember>> members = read_body(request);
  if (!members) {
    return tl::make_unexpected(members.error());
  }
  FieldErrors errors;
  ObjectReader reader{*std::move(members), "", errors};
  LimitsChange change;
  read_limit(reader.integer("webhooks_max", webhooks_range), change.webhooks_max);
  read_limit(reader.integer("events_per_minute", events_range), change.events_per_minute);
  reader.finish();
  if (!errors.empty()) {
    return tl::make_unexpected(errors.problem());
  }
  return change;
}

Parsed<TenantRef> path_tenant(const Context& context, const HttpRequest& request) {
  const auto found = request.path_parameters.find("id");
  const TenantId id = found == request.path_parameters.end() ? TenantId{} : found->second;
  TenantRef tenant = context.service->access()->find_tenant(id);
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

/// What was asked for, for the audit log.
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
  writer.close_object();
  return detail;
}

std::string tenant_text(const RegisteredTenant& tenant) {
  std::string body;
  JsonWriter writer{body};
  write_registered(writer, tenant);
  return body;
}

std::string write_page(const ListedById<TenantRef>& page) {
  const auto write_item = [](JsonWriter& writer, const TenantRef& tenant) {
    write_registered(writer, *tenant);
  };
  return write_list(page, ListKind::tenants, write_item);
}

}  // namespace

Awaitable<HttpResponse> list_tenants(Context context, HttpRequest request) {
  QueryReader query{request};
  const Parsed<IdPage> asked = read_id_page(query, ListKind::tenants);
  if (!asked) {
    co_return render(asked.error());
  }
  co_return json_answer(200, write_page(select_page(context.service->access()->tenants(), *asked)));
}

Awaitable<HttpResponse> create_tenant(Context context, HttpRequest request) {
  const Parsed<RegisteredTenant> tenant = read_new_tenant(context, request);
  if (!tenant) {
    co_return render(tenant.error());
  }
  AuditEntry entry = audit_entry(
      context, {.action = "tenant.create", .subject = tenant->id, .tenant_id = tenant->id});
  RegistryChange change = AddTenant{*tenant};
  auto pending = context.service->change_registry(std::move(change), std::move(entry));
  const Result<void> added = co_await std::move(pending);
  if (!added && added.error().code == Errc::conflict) {
    co_return render(conflict("tenant_exists", added.error().message));
  }
  if (!added) {
    co_return render(to_problem(added.error()));
  }
  HttpResponse response = json_answer(201, tenant_text(*tenant));
  response.headers.emplace_back("Location", "/v1/tenants/" + tenant->id);
  co_return response;
}

Awaitable<HttpResponse> get_tenant(Context context, HttpRequest request) {
  if (const std::optional<Problem> problem = query_problem(request)) {
    co_return render(*problem);
  }
  const Parsed<TenantRef> tenant = path_tenant(context, request);
  if (!tenant) {
    co_return render(tenant.error());
  }
  co_return json_answer(200, tenant_text(**tenant));
}

Awaitable<HttpResponse> delete_tenant(Context context, HttpRequest request) {
  QueryReader query{request};
  const bool force = query.boolean("force").value_or(false);
  if (const std::optional<Problem> fault = query.fault()) {
    co_return render(*fault);
  }
  const Parsed<TenantRef> tenant = path_tenant(context, request);
  if (!tenant) {
    co_return render(tenant.error());
  }
  const TenantId id = (*tenant)->id;
  AuditEntry entry =
      audit_entry(context, {.action = "tenant.delete",
                            .subject = id,
                            .tenant_id = id,
                            .detail = force ? R"({"force":true})" : R"({"force":false})"});
  auto pending = context.service->remove_tenant(id, force, std::move(entry));
  const Result<void> removed = co_await std::move(pending);
  if (!removed && removed.error().code == Errc::not_found) {
    co_return render(not_found("tenant", id));
  }
  if (!removed && removed.error().code == Errc::conflict) {
    co_return render(conflict("tenant_has_webhooks", removed.error().message));
  }
  if (!removed) {
    co_return render(to_problem(removed.error()));
  }
  co_return HttpResponse{.status = 204, .content_type = "", .headers = {}, .body = {}};
}

Awaitable<HttpResponse> get_tenant_limits(Context context, HttpRequest request) {
  if (const std::optional<Problem> problem = query_problem(request)) {
    co_return render(*problem);
  }
  const Parsed<TenantRef> tenant = path_tenant(context, request);
  if (!tenant) {
    co_return render(tenant.error());
  }
  co_return json_answer(200, limits_text((*tenant)->limits));
}

Awaitable<HttpResponse> put_tenant_limits(Context context, HttpRequest request) {
  const Parsed<TenantRef> tenant = path_tenant(context, request);
  if (!tenant) {
    co_return render(tenant.error());
  }
  const Parsed<LimitsChange> limits = read_limits(request);
  if (!limits) {
    co_return render(limits.error());
  }
  const TenantId id = (*tenant)->id;
  AuditEntry entry = audit_entry(
      context,
      {.action = "tenant.limits", .subject = id, .tenant_id = id, .detail = change_text(*limits)});
  RegistryChange change = SetLimits{id, *limits};
  auto pending = context.service->change_registry(std::move(change), std::move(entry));
  const Result<void> set = co_await std::move(pending);
  if (!set && set.error().code == Errc::not_found) {
    co_return render(not_found("tenant", id));
  }
  if (!set) {
    co_return render(to_problem(set.error()));
  }
  co_return json_answer(200, limits_text(context.service->access()->limits_of(id)));
}

}  // namespace postrider::api
