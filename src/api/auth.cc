#include "api/auth.h"

#include <string>
#include <string_view>

#include "core/header_rules.h"

#include "adapters/openssl/digest.h"

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
  if (key.empty() || key.size() > key_length_max) {
    return std::nullopt;
  }
  return key;
}

/// Looks at every key however early one fits: the time taken tells nothing.
const ApiKey* find_key(std::string_view key, const std::vector<ApiKey>& keys) {
  const std::string digest = sha256(key);
  const ApiKey* found = nullptr;
  for (const ApiKey& candidate : keys) {
    if (constant_time_equal(digest, candidate.sha256)) {
      found = &candidate;
    }
  }
  return found;
}

bool covers(std::string_view scope, Access access) {
  return scope == "admin" || (scope == "read" && access == Access::read) ||
         (scope == "publish" && access == Access::publish);
}

HttpResponse unauthorized(std::string detail) {
  HttpResponse response = render({.status = 401,
                                  .code = "unauthorized",
                                  .title = "Not authenticated",
                                  .detail = std::move(detail),
                                  .errors = {}});
  response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"postrider\"");
  return response;
}

}  // namespace

tl::expected<Caller, HttpResponse> authenticate(const HttpRequest& request, Access access,
                                                const std::vector<ApiKey>& keys) {
  Caller caller{.key_id = {},
                .key_name = {},
                .tenant_id = std::nullopt,
                .remote_ip = request.remote_ip,
                .request_id = request.request_id};
  if (access == Access::open) {
    return caller;
  }
  const std::optional<std::string_view> key = bearer_key(request);
  if (!key) {
    return tl::make_unexpected(unauthorized("Send an API key as `Authorization: Bearer <key>`."));
  }
  const ApiKey* known = find_key(*key, keys);
  if (known == nullptr) {
    return tl::make_unexpected(unauthorized("The API key is not known here, or no longer."));
  }
  if (!covers(known->scope, access)) {
    return tl::make_unexpected(
        render({.status = 403,
                .code = "insufficient_scope",
                .title = "Not allowed with this key",
                .detail = "The scope of this API key does not cover this request.",
                .errors = {}}));
  }
  caller.key_id = known->id.to_string();
  caller.key_name = known->name;
  return caller;
}

}  // namespace postrider::api
