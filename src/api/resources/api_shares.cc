#include "api/resources/api_shares.h"

#include "api/http/client_address.h"
#include "api/json/registry_json.h"

namespace postrider::api {

ShareOwner share_owner(const Caller& caller) {
  if (caller.key == nullptr) {
    return {ShareKind::address, client_group(caller.remote_ip)};
  }
  const ApiKey& key = caller.key->key();
  switch (key.scope) {
    case KeyScope::admin:
      return {};
    case KeyScope::tenant:
      return {ShareKind::tenant, key.tenant_id};
    case KeyScope::read:
    case KeyScope::publish:
      break;
  }
  return {ShareKind::key, acting_key(key).to_string()};
}

Parsed<SharePlace> take_place(const std::shared_ptr<SharedShares>& shares, const Caller& caller,
                              const PlaceTexts& texts) {
  ShareOwner owner = share_owner(caller);
  switch (shares->take(owner)) {
    case ShareVerdict::granted:
      return SharePlace{shares, std::move(owner)};
    case ShareVerdict::owner_full:
      return tl::make_unexpected(share_exceeded(owner, texts.owner_full));
    case ShareVerdict::server_full:
      break;
  }
  Problem problem = to_problem(Error{Errc::unavailable, std::string{texts.server_full}});
  problem.code = texts.code;
  return tl::make_unexpected(std::move(problem));
}

Parsed<SharePlace> take_test_place(const Context& context) {
  return take_place(
      context.shares->test_sends, context.caller,
      {.owner_full = "has too many test sends and verifications running. Wait for one to end.",
       .code = "unavailable",
       .server_full = "Too many receivers are being tried out. Retry soon."});
}

}  // namespace postrider::api
