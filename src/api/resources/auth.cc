#include "api/resources/auth.h"

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "core/net/header_rules.h"

#include "api/http/request_observer.h"
#include "api/json/registry_json.h"
#include "api/resources/answers.h"
#include "api/resources/key_text.h"
#include "api/resources/session_cookie.h"

namespace postrider::api {
namespace {

constexpr std::size_t key_length_max = 512;
constexpr std::string_view scheme = "bearer ";

std::optional<std::string_view> bearer_key(std::optional<std::string_view> header) {
  if (!header || header->size() <= scheme.size() ||
      !same_header(header->substr(0, scheme.size()), scheme)) {
    return std::nullopt;
  }
  std::string_view key = header->substr(scheme.size());
  key.remove_prefix(std::min(key.find_first_not_of(' '), key.size()));
  const bool is_one = key.find_first_of(" \t") == std::string_view::npos;
  if (key.empty() || key.size() > key_length_max || !is_one) {
    return std::nullopt;
  }
  return key;
}

/// A caller cannot choose the hash that is looked up; the comparison takes constant time.
template <class Find>
KeyRef find_by_text(std::string_view text, const Crypto& crypto, Find find) {
  const std::string digest = crypto.sha256(text);
  const KeyRef found = find(digest);
  const bool same = found != nullptr && crypto.constant_time_equal(digest, found->key().sha256);
  return same ? found : nullptr;
}

bool has_expired(const ApiKey& key, WallTime now) {
  return key.expires_at && *key.expires_at <= now;
}

bool is_read(const HttpRequest& request) {
  return request.method == "GET" || request.method == "HEAD";
}

bool covers(const ApiKey& key, Admission admission) {
  if (admission.access == Access::session) {
    return true;
  }
  switch (key.scope) {
    case KeyScope::admin:
      return true;
    case KeyScope::read:
      return admission.access == Access::read;
    case KeyScope::publish:
      return admission.access == Access::publish;
    case KeyScope::tenant:
      // Such a key may be older than the reservation.
      return key.tenant_id != reserved_tenant && admission.tenants == Tenants::served &&
             (key.role == KeyRole::admin || admission.access == Access::read);
  }
  return false;
}

std::string_view scopes_for(Access access) {
  switch (access) {
    case Access::read:
      return "`read` or `admin`";
    case Access::publish:
      return "`publish` or `admin`";
    case Access::open:
    case Access::session:
    case Access::admin:
      break;
  }
  return "`admin`";
}

Problem forbidden(const ApiKey& key, Admission admission) {
  const bool other_role = key.role == KeyRole::viewer && admission.tenants == Tenants::served;
  return {
      .status = 403,
      .code = "insufficient_scope",
      .title = "Not allowed with this key",
      .detail = other_role
                    ? "This API key has role `viewer` and can only read; this request needs a key "
                      "with role `admin`."
                    : fmt::format("This API key has scope `{}`; this request needs scope {}.",
                                  to_string(key.scope), scopes_for(admission.access)),
      .errors = {}};
}

Problem csrf_token_required() {
  return {.status = 403,
          .code = "csrf_token_required",
          .title = "The CSRF token is missing or wrong",
          .detail =
              "A request with a session cookie that changes something needs the header "
              "`X-CSRF-Token` with the `csrf_token` of GET /v1/sessions.",
          .errors = {}};
}

Parsed<KeyRef> find_session(const HttpRequest& request, std::string_view text,
                            const KeyCheck& check) {
  const auto find = [&](const std::string& digest) { return check.access.find_session(digest); };
  KeyRef session =
      is_key_text(text, session_prefix) ? find_by_text(text, check.crypto, find) : nullptr;
  if (session == nullptr || has_expired(session->key(), check.now)) {
    return tl::make_unexpected(
        unauthorized("This session is invalid or has ended. Sign in again."));
  }
  const std::string_view token = request.header("x-csrf-token").value_or("");
  if (!is_read(request) &&
      !check.crypto.constant_time_equal(token, csrf_token(check.crypto, text))) {
    return tl::make_unexpected(csrf_token_required());
  }
  return session;
}

/// The key or session of a request.
Parsed<KeyRef> find_caller(const HttpRequest& request, Access access, const KeyCheck& check) {
  const std::optional<std::string_view> authorization = request.header("authorization");
  const SessionCookie cookie = authorization ? SessionCookie{} : read_session_cookie(request);
  if (cookie.present) {
    return find_session(request, cookie.text, check);
  }
  if (access == Access::session) {
    return tl::make_unexpected(
        unauthorized("There is no session. Sign in with POST /v1/sessions."));
  }
  const std::optional<std::string_view> key = bearer_key(authorization);
  if (!key) {
    return tl::make_unexpected(unauthorized("Send one API key as `Authorization: Bearer <key>`."));
  }
  return find_api_key(*key, check);
}

/// Also for a request that this key may not make.
void note_caller(const HttpRequest& request, const ApiKey& key) {
  if (request.note == nullptr) {
    return;
  }
  request.note->key_id = acting_key(key);
  if (key.scope == KeyScope::tenant) {
    request.note->tenant_id = key.tenant_id;
  }
}

}  // namespace

bool is_shut_out(const ApiKey& key, const AccessSnapshot& access) {
  return key.session && key.scope == KeyScope::tenant && access.is_suspended(key.tenant_id);
}

Problem unauthorized(std::string detail) {
  Problem problem{.status = 401,
                  .code = "unauthorized",
                  .title = "Not authenticated",
                  .detail = std::move(detail),
                  .errors = {}};
  problem.headers = {{"WWW-Authenticate", "Bearer realm=\"postrider\""}};
  return problem;
}

Parsed<KeyRef> find_api_key(std::string_view text, const KeyCheck& check) {
  const auto find = [&](const std::string& digest) { return check.access.find_key(digest); };
  KeyRef key = find_by_text(text, check.crypto, find);
  if (key == nullptr) {
    return tl::make_unexpected(unauthorized("This API key is invalid, expired or revoked."));
  }
  if (has_expired(key->key(), check.now)) {
    return tl::make_unexpected(unauthorized(
        "This API key expired at " + to_rfc3339(*key->key().expires_at) + ". Use another key."));
  }
  return key;
}

Parsed<Caller> authenticate(const HttpRequest& request, Admission admission,
                            const KeyCheck& check) {
  Caller caller{.key = nullptr,
                .tenant_id = std::nullopt,
                .remote_ip = request.remote_ip,
                .request_id = request.request_id};
  if (admission.access == Access::open) {
    return caller;
  }
  POSTRIDER_TRY(caller.key, find_caller(request, admission.access, check));
  const ApiKey& known = caller.key->key();
  note_caller(request, known);
  if (!covers(known, admission)) {
    return tl::make_unexpected(forbidden(known, admission));
  }
  const bool signs_out = admission.access == Access::session && !is_read(request);
  if (is_shut_out(known, check.access) && !signs_out) {
    return tl::make_unexpected(tenant_suspended("The portal is closed."));
  }
  if (known.scope == KeyScope::tenant) {
    caller.tenant_id = known.tenant_id;
  }
  return caller;
}

}  // namespace postrider::api
