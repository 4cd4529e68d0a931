// `postrider keys`: who may talk to the server, and the key that encrypts secrets at rest.
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "cli/commands/group.h"
#include "cli/commands/query_flags.h"
#include "cli/text/json_text.h"
#include "cli/text/table.h"
#include "cli/text/time_argument.h"

namespace postrider::cli {
namespace {

constexpr const char* examples = R"(Examples:
  postrider keys create --name checkout --scope publish
  postrider keys create --tenant tnt_7
  postrider keys list
  postrider keys revoke key_01jx...
  postrider keys rotate
      Encrypts every stored secret again, under the server's newest encryption key.

Environment:
  POSTRIDER_URL   the server, instead of --url
  POSTRIDER_KEY   the API key, instead of --key)";

const std::vector<Column> columns = {{"ID", "id"},
                                     {"NAME", "name"},
                                     {"SCOPE", "scope"},
                                     {"TENANT", "tenant_id"},
                                     {"CREATED", "created_at"},
                                     {"EXPIRES", "expires_at"},
                                     {"LAST USED", "last_used_at"}};

struct CreateFlags {
  std::optional<std::string> name, tenant, expires, scope;
};

Result<json::value> body_of(const CreateFlags& flags) {
  if (!flags.scope && !flags.tenant) {
    return fail(Errc::invalid, "--scope or --tenant is required: what may the key do?");
  }
  json::object body{{"scope", flags.scope.value_or("tenant")}};
  if (flags.name) {
    body["name"] = *flags.name;
  }
  if (flags.tenant) {
    body["tenant_id"] = *flags.tenant;
  }
  if (flags.expires) {
    if (!parse_rfc3339(*flags.expires)) {
      return fail(Errc::invalid, "--expires must be a time such as 2027-01-31T10:00:00Z.");
    }
    body["expires_at"] = *flags.expires;
  }
  return json::value(std::move(body));
}

void add_create(Group& group) {
  const auto flags = std::make_shared<CreateFlags>();
  const auto run = [flags](const Session& session) -> Result<void> {
    POSTRIDER_TRY(json::value body, body_of(*flags));
    return session.show({.method = "POST", .path = "/v1/api-keys", .body = std::move(body)},
                        fields_text);
  };
  Syntax syntax = group.add("create", "Create an API key; it is shown this once", run);
  syntax.option("--scope SCOPE", flags->scope, "What it may do: admin, publish, read or tenant")
      .one_of({"admin", "publish", "read", "tenant"});
  syntax.option("--name TEXT", flags->name, "Who uses it");
  syntax.option("--tenant ID", flags->tenant,
                "For this tenant's data alone; its scope is then `tenant`");
  syntax.option("--expires TIME", flags->expires, "Good until then");
}

}  // namespace

std::unique_ptr<Subcommand> add_keys(Syntax root) {
  auto group = std::make_unique<Group>(root, "keys", "API keys, and the encryption of secrets");
  group->syntax().footer(examples);
  const auto flags = std::make_shared<QueryFlags>();
  const auto list = [flags](const Session& session) -> Result<void> {
    POSTRIDER_TRY(QueryFlags::Query query, flags->query());
    return session.show(
        {.path = "/v1/api-keys", .query = std::move(query)},
        [](const json::value& page) { return page_text(page, columns, shown_width()); });
  };
  flags->add_page(group->add("list", "List API keys; the keys themselves are not kept", list));
  add_create(*group);
  const auto id = std::make_shared<std::string>();
  const auto revoke = [id](const Session& session) {
    return session.show({.method = "DELETE", .path = "/v1/api-keys/" + path_part(*id)},
                        [&](const json::value&) { return fmt::format("{} revoked.\n", *id); });
  };
  group->add("revoke", "Refuse a key from now on", revoke).argument("ID", *id, "The API key's id");
  group->add("rotate", "Encrypt every stored secret again under the newest encryption key",
             [](const Session& session) {
               return session.show({.method = "POST", .path = "/v1/secrets/rotate-key"},
                                   fields_text);
             });
  return group;
}

}  // namespace postrider::cli
