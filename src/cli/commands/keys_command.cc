// `postrider keys`: manages API keys, creates sign-in links, and rotates the key that encrypts
// stored secrets.
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
  postrider keys create --tenant tnt_7 --role viewer
  postrider keys list
  postrider keys sign-in-link
      Prints a link that signs a browser in once.
  postrider keys sign-in-link --tenant tnt_7 --role viewer
      Prints a link to the portal of a tenant.
  postrider keys revoke key_01jx...
  postrider keys rotate
      Encrypts all stored secrets again with the newest encryption key of the server.

Environment:
  POSTRIDER_SERVER   the server, instead of --server
  POSTRIDER_KEY      the API key, instead of --key)";

const std::vector<Column> columns = {{"ID", "id"},
                                     {"NAME", "name"},
                                     {"SCOPE", "scope"},
                                     {"TENANT", "tenant_id"},
                                     {"ROLE", "role"},
                                     {"CREATED", "created_at"},
                                     {"EXPIRES", "expires_at"},
                                     {"LAST USED", "last_used_at"}};

struct CreateFlags {
  std::optional<std::string> name, tenant, role, expires, scope;
};

Result<json::value> body_of(const CreateFlags& flags) {
  if (!flags.scope && !flags.tenant) {
    return fail(Errc::invalid, "--scope or --tenant is required.");
  }
  json::object body{{"scope", flags.scope.value_or("tenant")}};
  if (flags.name) {
    body["name"] = *flags.name;
  }
  if (flags.tenant) {
    body["tenant_id"] = *flags.tenant;
  }
  if (flags.role) {
    body["role"] = *flags.role;
  }
  if (flags.expires) {
    if (!parse_rfc3339(*flags.expires)) {
      return fail(Errc::invalid, fmt::format("--expires: `{}` is not a valid time. Use RFC 3339, "
                                             "for example 2027-01-31T10:00:00Z.",
                                             *flags.expires));
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
  Syntax syntax = group.add("create", "Create an API key; the key is shown only once", run);
  syntax.option("--scope SCOPE", flags->scope, "Scope of the key: admin, publish, read or tenant")
      .one_of({"admin", "publish", "read", "tenant"});
  syntax.option("--name TEXT", flags->name, "Name of the key");
  syntax.option("--tenant ID", flags->tenant,
                "Restrict the key to this tenant; the default scope is then `tenant`");
  syntax
      .option("--role ROLE", flags->role,
              "Role of a tenant's key: admin (default), or viewer, which can only read")
      .one_of({"admin", "viewer"});
  syntax.option("--expires TIME", flags->expires, "Time at which the key expires, as RFC 3339");
}

struct LinkFlags {
  std::optional<std::string> tenant, role;
  std::optional<std::uint32_t> expires_in;
};

Call link_call(const LinkFlags& flags) {
  json::object body;
  if (flags.tenant) {
    body["tenant_id"] = *flags.tenant;
  }
  if (flags.role) {
    body["role"] = *flags.role;
  }
  if (flags.expires_in) {
    body["expires_in_seconds"] = *flags.expires_in;
  }
  return {.method = "POST",
          .path = flags.tenant ? "/v1/portal-links" : "/v1/sign-in-links",
          .query = {},
          .body = json::value(std::move(body))};
}

void add_sign_in_link(Group& group) {
  const auto flags = std::make_shared<LinkFlags>();
  const auto text = [](const json::value& link) {
    return fmt::format("{}\nThe link works once, until {}.\n", text_at(link, "url"),
                       text_at(link, "expires_at"));
  };
  const auto run = [flags, text](const Session& session) {
    return session.show(link_call(*flags), text);
  };
  Syntax syntax = group.add("sign-in-link", "Print a link that signs a browser in once", run);
  syntax.option("--tenant ID", flags->tenant, "Open the portal of this tenant");
  syntax.option("--role ROLE", flags->role, "Role: admin (default), or viewer, which can only read")
      .one_of({"admin", "viewer"});
  syntax.option("--expires-in SECONDS", flags->expires_in,
                "How long the link works (default 300; at most 3600, or 300 with --tenant)");
}

}  // namespace

std::unique_ptr<Subcommand> add_keys(Syntax root) {
  auto group =
      std::make_unique<Group>(root, "keys", "Manage API keys and the encryption of stored secrets");
  group->syntax().footer(examples);
  const auto flags = std::make_shared<QueryFlags>();
  const auto list = [flags](const Session& session) -> Result<void> {
    POSTRIDER_TRY(QueryFlags::Query query, flags->query(session.now()));
    return session.show_page({.path = "/v1/api-keys", .query = std::move(query)}, columns);
  };
  flags->add_page(group->add("list", "List API keys; the keys themselves are not stored", list));
  add_create(*group);
  add_sign_in_link(*group);
  const auto id = std::make_shared<std::string>();
  const auto revoke = [id](const Session& session) {
    return session.show({.method = "DELETE", .path = "/v1/api-keys/" + path_part(*id)},
                        [&](const json::value&) { return fmt::format("{} revoked.\n", *id); });
  };
  group->add("revoke", "Revoke an API key", revoke).argument("ID", *id, "Id of the API key");
  group->add("rotate", "Encrypt all stored secrets again with the newest encryption key",
             [](const Session& session) {
               return session.show({.method = "POST", .path = "/v1/secrets/rotate-key"},
                                   fields_text);
             });
  return group;
}

}  // namespace postrider::cli
