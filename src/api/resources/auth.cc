#include "api/resources/auth.h"

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "core/net/header_rules.h"

#include "api/json/registry_json.h"
#include "api/resources/answers.h"

namespace postrider::api {
namespace {

constexpr std::size_t key_length_max = 512;
constexpr std::string_view scheme = "bearer ";

std::optional<std::string_view> bearer_key(const HttpRequest& request) {
  const std::optional<std::string_view> header = request.header("authorization");
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
KeyRef find_key(std::string_view key, const KeyCheck& check) {
  const std::string digest = check.crypto.sha256(key);
  const KeyRef found = check.access.find_key(digest);
  const bool same =
      found != nullptr && check.crypto.constant_time_equal(digest, found->key().sha256);
  return same ? found : nullptr;
}

bool covers(const ApiKey& key, Admission admission) {
  switch (key.scope) {
    case KeyScope::admin:
      return true;
    case KeyScope::read:
      return admission.access == Access::read;
    case KeyScope::publish:
      return admission.access == Access::publish;
    case KeyScope::tenant:
      return admission.tenants == Tenants::served &&
             (key.role == KeyRole::admin || admission.access == Access::read);
  }
  return false;
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

std::string_view scopes_for(Access access) {
  switch (access) {
    case Access::read:
      return "`read` or `admin`";
    case Access::publish:
      return "`publish` or `admin`";
    case Access::open:
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

}  // namespace

bool is_shut_out(const ApiKey& key, const AccessSnapshot& access) {
  return key.portal_session && access.is_suspended(key.tenant_id);
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
  const std::optional<std::string_view> key = bearer_key(request);
  if (!key) {
    return tl::make_unexpected(unauthorized("Send one API key as `Authorization: Bearer <key>`."));
  }
  caller.key = find_key(*key, check);
  if (caller.key == nullptr) {
    return tl::make_unexpected(unauthorized("This API key is invalid, expired or revoked."));
  }
  const ApiKey& known = caller.key->key();
  if (known.expires_at && *known.expires_at <= check.now) {
    return tl::make_unexpected(unauthorized("This API key expired at " +
                                            to_rfc3339(*known.expires_at) + ". Use another key."));
  }
  if (!covers(known, admission)) {
    return tl::make_unexpected(forbidden(known, admission));
  }
  if (is_shut_out(known, check.access)) {
    return tl::make_unexpected(tenant_suspended("The portal is closed."));
  }
  if (known.scope == KeyScope::tenant) {
    caller.tenant_id = known.tenant_id;
  }
  return caller;
}

}  // namespace postrider::api
