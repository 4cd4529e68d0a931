// Links that open a session once: for an operator, or for a user of a tenant (portal links).
#include <fmt/format.h>

#include "api/json/branding_json.h"
#include "api/json/field_reader.h"
#include "api/json/json_body.h"
#include "api/json/query_reader.h"
#include "api/resources/answers.h"
#include "api/resources/audit.h"
#include "api/resources/key_text.h"
#include "api/resources/own_host.h"
#include "api/resources/publishing.h"
#include "api/resources/resources.h"
#include "api/resources/sessions.h"

namespace postrider::api {
namespace {

constexpr TextRule name_rule{.bytes_max = 256, .multiline = false};

/// Short: a link may end up in messages and browser histories.
struct LinkTimes {
  IntegerRange link_seconds;
  std::int64_t link_default;
  IntegerRange session_seconds;
  std::int64_t session_default;
};
constexpr LinkTimes portal_times{{1, 300}, 300, {1, 3'600}, 3'600};
constexpr LinkTimes operator_times{{1, 3'600}, 300, {1, 86'400}, 43'200};

Millis seconds_or(const JsonField<std::int64_t>& given, std::int64_t fallback) {
  return std::chrono::seconds{given.value.value_or(fallback)};
}

/// The fields that both kinds of links have.
SignInLink read_common(ObjectReader& reader, const Context& context, const LinkTimes& times) {
  SignInLink link;
  link.role = reader.choice("role", parse_key_role, "admin, viewer").value.value_or(link.role);
  link.expires_at =
      context.services.clock.now().wall +
      seconds_or(reader.integer("expires_in_seconds", times.link_seconds), times.link_default);
  link.session =
      seconds_or(reader.integer("session_seconds", times.session_seconds), times.session_default);
  link.created_by = acting_key(context.caller.key->key());
  return link;
}

Parsed<SignInLink> read_portal_link(const Context& context, const HttpRequest& request) {
  POSTRIDER_CHECK(check_no_query(request));
  POSTRIDER_TRY(std::vector<JsonMember> members, read_body(request));
  FieldErrors errors;
  ObjectReader reader{std::move(members), "", errors};
  SignInLink link = read_common(reader, context, portal_times);
  if (reader.raw("tenant_id").value_or("null") == "null") {
    reader.refuse("tenant_id", "is required: the tenant whose webhooks the link opens.");
  }
  assign(reader.text("tenant_id", name_rule), link.tenant_id, TenantId{});
  link.branding = read_branding(reader);
  reader.finish();
  if (!errors.empty()) {
    return tl::make_unexpected(errors.problem());
  }
  POSTRIDER_CHECK(check_tenant_known(context, link.tenant_id));
  POSTRIDER_CHECK(check_portal_open(*context.services.snapshots.access(), link.tenant_id));
  return link;
}

/// An operator with the role `viewer` gets the scope `read`.
Parsed<SignInLink> read_sign_in_link(const Context& context, const HttpRequest& request) {
  POSTRIDER_CHECK(check_no_query(request));
  POSTRIDER_TRY(std::vector<JsonMember> members, read_optional_body(request));
  FieldErrors errors;
  ObjectReader reader{std::move(members), "", errors};
  SignInLink link = read_common(reader, context, operator_times);
  link.scope = link.role == KeyRole::viewer ? KeyScope::read : KeyScope::admin;
  link.role = KeyRole::admin;  // Only sessions of a tenant have a role of their own.
  reader.finish();
  if (!errors.empty()) {
    return tl::make_unexpected(errors.problem());
  }
  return link;
}

/// The configured public URL, otherwise the request's Host with the listener's scheme. Fails if
/// the Host is not known to be this server's: the link would hand the token to somebody else.
Parsed<std::string> origin_of(const ApiOptions& options, const HttpRequest& request) {
  if (!options.public_url.empty()) {
    std::string_view url = options.public_url;
    url.remove_suffix(url.ends_with('/') ? 1 : 0);
    return std::string{url};
  }
  const std::string_view host = request.header("host").value_or("");
  if (names_listener(host, options.listen_address)) {
    return fmt::format("{}://{}", options.tls ? "https" : "http", host);
  }
  return tl::make_unexpected(
      Problem{.status = 421,
              .code = "unknown_host",
              .title = "The Host is not known",
              .detail = fmt::format("A link needs the address where people reach this server, and "
                                    "`{}` is not known to be one. Set `public_url`.",
                                    host),
              .errors = {}});
}

std::string_view role_word(const SignInLink& link) {
  return link.scope == KeyScope::read ? to_string(KeyRole::viewer) : to_string(link.role);
}

/// Leaves the object open for further members.
void write_link(JsonWriter& writer, const std::string& origin, const Secret<std::string>& token,
                const SignInLink& link) {
  writer.open_object();
  writer.member("url", link_url(origin, token).reveal());
  writer.member("token", token.reveal());
  writer.member("role", role_word(link));
  writer.member("expires_at", link.expires_at);
}

HttpResponse secret_answer(std::string body) {
  HttpResponse response = json_answer(201, std::move(body));
  response.headers.emplace_back("Cache-Control", "no-store");
  return response;
}

Awaitable<Parsed<void>> store_link(Context context, SignInLink link, AuditedAction action) {
  action.detail = fmt::format(R"({{"role":"{}"}})", role_word(link));
  AuditEntry entry = audit_entry(context, std::move(action));
  RegistryChange change = AddLink{std::move(link)};
  auto pending = context.services.access.change_registry(std::move(change), std::move(entry),
                                                         context.request_key);
  const Result<void> added = co_await std::move(pending);
  if (!added) {
    co_return tl::make_unexpected(to_problem(added.error()));
  }
  co_return Parsed<void>{};
}

}  // namespace

Awaitable<Reply> create_portal_link(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(SignInLink link, read_portal_link(context, request));
  POSTRIDER_CO_TRY(const std::string origin, origin_of(*context.options, request));
  const Crypto& crypto = *context.options->crypto;
  const Secret<std::string> token = make_key_text(crypto, portal_prefix);
  link.sha256 = crypto.sha256(token.reveal());
  auto pending = store_link(
      context, link,
      {.action = "portal_link.create", .subject = link.tenant_id, .tenant_id = link.tenant_id});
  const Parsed<void> stored = co_await std::move(pending);
  POSTRIDER_CO_CHECK(stored);
  std::string body;
  JsonWriter writer{body};
  write_link(writer, origin, token, link);
  writer.member("tenant_id", link.tenant_id);
  writer.key("branding");
  write_branding(writer, link.branding, context.options->branding);
  writer.close_object();
  co_return secret_answer(std::move(body));
}

Awaitable<Reply> create_sign_in_link(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(SignInLink link, read_sign_in_link(context, request));
  POSTRIDER_CO_TRY(const std::string origin, origin_of(*context.options, request));
  const Crypto& crypto = *context.options->crypto;
  const Secret<std::string> token = make_key_text(crypto, sign_in_prefix);
  link.sha256 = crypto.sha256(token.reveal());
  auto pending = store_link(
      context, link, {.action = "sign_in_link.create", .subject = link.created_by.to_string()});
  const Parsed<void> stored = co_await std::move(pending);
  POSTRIDER_CO_CHECK(stored);
  std::string body;
  JsonWriter writer{body};
  write_link(writer, origin, token, link);
  writer.close_object();
  co_return secret_answer(std::move(body));
}

}  // namespace postrider::api
