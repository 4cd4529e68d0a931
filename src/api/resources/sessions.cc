// Sign-in and sign-out of browsers. A session is opened with an API key or with a link.
#include "api/resources/sessions.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/json/branding_json.h"
#include "api/json/field_reader.h"
#include "api/json/json_body.h"
#include "api/json/query_reader.h"
#include "api/json/registry_json.h"
#include "api/json/webhook_json.h"
#include "api/resources/answers.h"
#include "api/resources/audit.h"
#include "api/resources/auth.h"
#include "api/resources/key_text.h"
#include "api/resources/resources.h"
#include "api/resources/same_origin.h"
#include "api/resources/session_cookie.h"

namespace postrider::api {
namespace {

constexpr TextRule credential_rule{.bytes_max = 512, .multiline = false};

/// Exactly one is set.
struct Credentials {
  std::optional<std::string> key;
  std::optional<std::string> token;
};

Parsed<Credentials> read_credentials(const HttpRequest& request) {
  POSTRIDER_CHECK(check_no_query(request));
  POSTRIDER_CHECK(require_media_type(request));
  POSTRIDER_TRY(std::vector<JsonMember> members, read_body(request));
  FieldErrors errors;
  ObjectReader reader{std::move(members), "", errors};
  Credentials given{.key = reader.text("key", credential_rule).value,
                    .token = reader.text("token", credential_rule).value};
  reader.finish();
  if (errors.empty() && given.key.has_value() == given.token.has_value()) {
    reader.refuse("key", "give either `key`, an API key, or `token`, the token of a link.");
  }
  if (!errors.empty()) {
    return tl::make_unexpected(errors.problem());
  }
  return given;
}

/// The same for an unknown, a used and an expired link.
Problem link_spent() {
  return {.status = 410,
          .code = "link_spent",
          .title = "The link is invalid or expired",
          .detail = "A link works once and for a short time. Request a new one.",
          .errors = {}};
}

/// A session before it is stored.
struct Opening {
  ApiKey session;
  std::optional<std::string> link;  // The hash of the link that it redeems.
};

/// Fills in what both ways to sign in share. A session ends with its key.
ApiKey make_session(const Context& context, const ApiKey& parent, Millis life) {
  const WallTime now = context.services.clock.now().wall;
  return {.id = KeyId{context.services.ids.new_uuid()},
          .name = parent.name,
          .sha256 = {},
          .scope = parent.scope,
          .tenant_id = parent.tenant_id,
          .role = parent.role,
          .created_at = now,
          .expires_at = std::min(now + life, parent.expires_at.value_or(WallTime::max())),
          .last_used_at = std::nullopt,
          .session = SessionOrigin{.parent = parent.id}};
}

Parsed<Opening> open_with_key(const Context& context, const std::string& text) {
  const auto access = context.services.snapshots.access();
  POSTRIDER_TRY(const KeyRef key, find_api_key(text, {*access, *context.options->crypto,
                                                      context.services.clock.now().wall}));
  return Opening{make_session(context, key->key(), context.options->key_session), std::nullopt};
}

Parsed<Opening> open_with_link(const Context& context, const std::string& token) {
  const auto access = context.services.snapshots.access();
  const std::string hash = context.options->crypto->sha256(token);
  const SignInLink* const link = access->find_link(hash);
  const KeyRef parent = link != nullptr ? access->find_key(link->created_by) : nullptr;
  if (parent == nullptr) {
    return tl::make_unexpected(link_spent());
  }
  ApiKey session = make_session(context, parent->key(), link->session);
  session.scope = link->scope;
  session.tenant_id = link->tenant_id;
  session.role = link->role;
  session.session->portal = link->scope == KeyScope::tenant;
  session.session->branding = link->branding;
  if (session.session->portal) {
    session.name = "portal session";
  }
  return Opening{std::move(session), hash};
}

/// The holder of a key or of an operator's link acts for the key; a portal link is no key.
AuditEntry sign_in_entry(const Context& context, const Opening& opening) {
  const ApiKey& session = opening.session;
  AuditEntry entry = audit_entry(
      context, {.action = "session.create",
                .subject = session.id.to_string(),
                .tenant_id = session.tenant_id,
                .detail = fmt::format(R"({{"with":"{}"}})", opening.link ? "link" : "key")});
  entry.actor = session.session->portal ? "portal_link" : session.session->parent.to_string();
  entry.actor_name = session.name;
  return entry;
}

/// What the session may do, in the words of a tenant's role.
std::string_view role_word(const ApiKey& session) {
  const bool changes = session.scope == KeyScope::admin ||
                       (session.scope == KeyScope::tenant && session.role == KeyRole::admin);
  return to_string(changes ? KeyRole::admin : KeyRole::viewer);
}

HttpResponse show_session(const Context& context, std::uint16_t status, const ApiKey& session,
                          std::string_view text) {
  std::string body;
  JsonWriter writer{body};
  writer.open_object();
  writer.member("scope", to_string(session.scope));
  writer.member("role", role_word(session));
  write_tenant_id(writer, session.tenant_id);
  writer.member("key_name", session.name);
  writer.member("expires_at", session.expires_at);
  writer.member("csrf_token", csrf_token(*context.options->crypto, text));
  writer.key("server");
  writer.open_object();
  writer.member("version", POSTRIDER_VERSION);
  writer.close_object();
  writer.key("branding");
  write_branding(writer, session.session->branding, context.options->branding);
  writer.close_object();
  HttpResponse response = json_answer(status, std::move(body));
  response.headers.emplace_back("Cache-Control", "no-store");
  return response;
}

}  // namespace

Parsed<void> check_portal_open(const AccessSnapshot& access, const TenantId& tenant_id) {
  if (access.is_suspended(tenant_id)) {
    return tl::make_unexpected(tenant_suspended("Its portal is closed."));
  }
  return {};
}

Awaitable<Reply> create_session(Context context, HttpRequest request) {
  POSTRIDER_CO_CHECK(check_same_origin(*context.options, request));
  POSTRIDER_CO_TRY(const Credentials given, read_credentials(request));
  POSTRIDER_CO_TRY(Opening opening, given.key ? open_with_key(context, *given.key)
                                              : open_with_link(context, *given.token));
  ApiKey& session = opening.session;
  if (session.scope == KeyScope::tenant) {
    POSTRIDER_CO_CHECK(check_portal_open(*context.services.snapshots.access(), session.tenant_id));
  }
  const Crypto& crypto = *context.options->crypto;
  const Secret<std::string> text = make_key_text(crypto, session_prefix);
  session.sha256 = crypto.sha256(text.reveal());
  RegistryChange change = opening.link ? RegistryChange{RedeemLink{*opening.link, session}}
                                       : RegistryChange{AddSession{session}};
  AuditEntry entry = sign_in_entry(context, opening);
  auto pending =
      context.services.access.change_registry(std::move(change), std::move(entry), std::nullopt);
  const Result<void> opened = co_await std::move(pending);
  if (!opened &&
      opened.error().code == Errc::not_found) {  // Redeemed, expired or revoked meanwhile.
    co_return tl::make_unexpected(
        opening.link ? link_spent() : unauthorized("This API key is invalid, expired or revoked."));
  }
  if (!opened) {
    co_return tl::make_unexpected(to_problem(opened.error()));
  }
  HttpResponse response = show_session(context, 201, session, text.reveal());
  response.headers.emplace_back("Set-Cookie",
                                write_session_cookie(*context.options, text.reveal(),
                                                     *session.expires_at - session.created_at));
  co_return response;
}

Awaitable<Reply> get_session(Context context, HttpRequest request) {
  POSTRIDER_CO_CHECK(check_no_query(request));
  co_return show_session(context, 200, context.caller.key->key(),
                         read_session_cookie(request).text);
}

Awaitable<Reply> delete_session(Context context, HttpRequest request) {
  POSTRIDER_CO_CHECK(check_no_parameters(request));
  const ApiKey& session = context.caller.key->key();
  AuditEntry entry = audit_entry(context, {.action = "session.delete",
                                           .subject = session.id.to_string(),
                                           .tenant_id = session.tenant_id});
  RegistryChange change = EndSessions{{session.id}};
  auto pending =
      context.services.access.change_registry(std::move(change), std::move(entry), std::nullopt);
  const Result<void> ended = co_await std::move(pending);
  if (!ended) {
    co_return tl::make_unexpected(to_problem(ended.error()));
  }
  HttpResponse response{.status = 204, .content_type = "", .headers = {}, .body = {}};
  response.headers.emplace_back("Set-Cookie",
                                write_session_cookie(*context.options, "", Millis{0}));
  co_return response;
}

}  // namespace postrider::api
