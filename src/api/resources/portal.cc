#include <fmt/format.h>

#include "api/json/field_reader.h"
#include "api/json/json_body.h"
#include "api/json/query_reader.h"
#include "api/resources/answers.h"
#include "api/resources/audit.h"
#include "api/resources/key_text.h"
#include "api/resources/own_host.h"
#include "api/resources/publishing.h"
#include "api/resources/resources.h"

namespace postrider::api {
namespace {

constexpr TextRule name_rule{.bytes_max = 256, .multiline = false};
// Short: a link may end up in messages and browser histories.
constexpr IntegerRange link_seconds{1, 300};
constexpr IntegerRange session_seconds{1, 3'600};

Millis seconds_or(const JsonField<std::int64_t>& given, std::int64_t fallback) {
  return std::chrono::seconds{given.value.value_or(fallback)};
}

/// A link of a suspended tenant is kept: it can be used after the tenant is resumed.
Parsed<void> check_portal_open(const AccessSnapshot& access, const TenantId& tenant_id) {
  if (access.is_suspended(tenant_id)) {
    return tl::make_unexpected(tenant_suspended("Its portal is closed."));
  }
  return {};
}

Parsed<PortalLink> read_link(const Context& context, const HttpRequest& request) {
  POSTRIDER_CHECK(check_no_query(request));
  POSTRIDER_TRY(std::vector<JsonMember> members, read_body(request));
  FieldErrors errors;
  ObjectReader reader{std::move(members), "", errors};
  PortalLink link;
  if (reader.raw("tenant_id").value_or("null") == "null") {
    reader.refuse("tenant_id", "is required: the tenant whose webhooks the link opens.");
  }
  assign(reader.text("tenant_id", name_rule), link.tenant_id, TenantId{});
  link.role = reader.choice("role", parse_key_role, "admin, viewer").value.value_or(link.role);
  link.expires_at =
      context.services.clock.now().wall +
      seconds_or(reader.integer("expires_in_seconds", link_seconds), link_seconds.max);
  link.session =
      seconds_or(reader.integer("session_seconds", session_seconds), session_seconds.max);
  reader.finish();
  if (!errors.empty()) {
    return tl::make_unexpected(errors.problem());
  }
  POSTRIDER_CHECK(check_tenant_known(context, link.tenant_id));
  POSTRIDER_CHECK(check_portal_open(*context.services.snapshots.access(), link.tenant_id));
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
              .detail = fmt::format("A portal link needs the address where people reach this "
                                    "server, and `{}` is not known to be one. Set `public_url`.",
                                    host),
              .errors = {}});
}

/// The token is in the fragment: browsers do not send it, so it reaches no log.
std::string write_link(const std::string& origin, const Secret<std::string>& token,
                       const PortalLink& link) {
  std::string body;
  JsonWriter writer{body};
  writer.open_object();
  writer.member("url", origin + "/#portal=" + token.reveal());
  writer.member("token", token.reveal());
  writer.member("tenant_id", link.tenant_id);
  writer.member("role", to_string(link.role));
  writer.member("expires_at", link.expires_at);
  writer.close_object();
  return body;
}

Parsed<std::string> read_token(const HttpRequest& request) {
  POSTRIDER_CHECK(check_no_query(request));
  POSTRIDER_TRY(std::vector<JsonMember> members, read_body(request));
  FieldErrors errors;
  ObjectReader reader{std::move(members), "", errors};
  const JsonField<std::string> token = reader.text("token", name_rule);
  if (reader.raw("token").value_or("null") == "null") {
    reader.refuse("token", "is required: the token of a portal link.");
  }
  reader.finish();
  if (!errors.empty()) {
    return tl::make_unexpected(errors.problem());
  }
  return token.value.value_or("");
}

/// The same for an unknown, a used and an expired link.
Problem spent() {
  return {.status = 410,
          .code = "portal_link_spent",
          .title = "The portal link is invalid or expired",
          .detail = "A portal link works once and for a short time. Request a new one.",
          .errors = {}};
}

HttpResponse secret_answer(std::string body) {
  HttpResponse response = json_answer(201, std::move(body));
  response.headers.emplace_back("Cache-Control", "no-store");
  return response;
}

ApiKey session_key(const Context& context, const PortalLink& link,
                   const Secret<std::string>& text) {
  const WallTime now = context.services.clock.now().wall;
  return {.id = KeyId{context.services.ids.new_uuid()},
          .name = "portal session",
          .sha256 = context.options->crypto->sha256(text.reveal()),
          .scope = KeyScope::tenant,
          .tenant_id = link.tenant_id,
          .role = link.role,
          .created_at = now,
          .expires_at = now + link.session,
          .last_used_at = std::nullopt,
          .portal_session = true};
}

std::string write_session(const ApiKey& session, const Secret<std::string>& text) {
  std::string body;
  JsonWriter writer{body};
  writer.open_object();
  writer.member("key", text.reveal());
  writer.member("tenant_id", session.tenant_id);
  writer.member("role", to_string(session.role));
  writer.member("expires_at", session.expires_at);
  writer.close_object();
  return body;
}

}  // namespace

Awaitable<Reply> create_portal_link(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(PortalLink link, read_link(context, request));
  POSTRIDER_CO_TRY(const std::string origin, origin_of(*context.options, request));
  const Crypto& crypto = *context.options->crypto;
  const Secret<std::string> token = make_key_text(crypto, portal_prefix);
  link.sha256 = crypto.sha256(token.reveal());
  AuditEntry entry =
      audit_entry(context, {.action = "portal_link.create",
                            .subject = link.tenant_id,
                            .tenant_id = link.tenant_id,
                            .detail = fmt::format(R"({{"role":"{}"}})", to_string(link.role))});
  RegistryChange change = AddLink{link};
  auto pending = context.services.access.change_registry(std::move(change), std::move(entry),
                                                         context.request_key);
  const Result<void> added = co_await std::move(pending);
  if (!added) {
    co_return tl::make_unexpected(to_problem(added.error()));
  }
  co_return secret_answer(write_link(origin, token, link));
}

Awaitable<Reply> open_portal_session(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(const std::string token, read_token(request));
  const Crypto& crypto = *context.options->crypto;
  const std::string hash = crypto.sha256(token);
  const auto access = context.services.snapshots.access();
  const PortalLink* const link = access->find_link(hash);
  if (link == nullptr) {
    co_return tl::make_unexpected(spent());
  }
  POSTRIDER_CO_CHECK(check_portal_open(*access, link->tenant_id));
  const Secret<std::string> text = make_key_text(crypto, key_prefix);
  const ApiKey session = session_key(context, *link, text);
  AuditEntry entry = audit_entry(context, {.action = "portal_session.create",
                                           .subject = session.id.to_string(),
                                           .tenant_id = session.tenant_id});
  entry.actor = "portal_link";  // The holder of the link has no key yet.
  RegistryChange change = RedeemLink{hash, session};
  auto pending =
      context.services.access.change_registry(std::move(change), std::move(entry), std::nullopt);
  const Result<void> redeemed = co_await std::move(pending);
  if (!redeemed && redeemed.error().code == Errc::not_found) {
    co_return tl::make_unexpected(spent());  // Redeemed or expired meanwhile.
  }
  if (!redeemed) {
    co_return tl::make_unexpected(to_problem(redeemed.error()));
  }
  co_return secret_answer(write_session(session, text));
}

}  // namespace postrider::api
