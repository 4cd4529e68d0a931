#include "adapters/sql/admin/registry.h"

#include <array>
#include <utility>

#include "core/stored/text_lines.h"

#include "adapters/sql/upsert.h"

namespace postrider::sql {
namespace {

// Changes are rare, so statements are prepared each time.

constexpr std::array<std::pair<std::string_view, KeyScope>, 4> scopes = {
    {{"admin", KeyScope::admin},
     {"publish", KeyScope::publish},
     {"read", KeyScope::read},
     {"tenant", KeyScope::tenant}}};

std::string_view to_column(KeyScope wanted) {
  for (const auto& [name, scope] : scopes) {
    if (scope == wanted) {
      return name;
    }
  }
  return {};
}

Result<KeyScope> read_scope(std::string_view text) {
  for (const auto& [name, scope] : scopes) {
    if (name == text) {
      return scope;
    }
  }
  return fail(Errc::corrupt, "A stored API key, session or link has an unknown scope.");
}

Result<KeyRole> read_role(std::string_view text) {
  const std::optional<KeyRole> role = parse_key_role(text);
  if (!role) {
    return fail(Errc::corrupt, "A stored API key, session or link has an unknown role.");
  }
  return *role;
}

constexpr UpsertColumns key_columns{
    .all = "id, name, sha256, scope, tenant_id, created_at, expires_at, last_used_at, role",
    .key = "id"};

constexpr UpsertColumns tenant_columns{
    .all =
        "serial, id, name, metadata, pool, webhooks_max, events_per_minute, created_at,"
        " suspended_at, suspended_reason, timeout_ms_max, max_in_flight_max, contacts",
    .key = "serial"};

constexpr UpsertColumns link_columns{
    .all =
        "sha256, tenant_id, session_ms, expires_at, role, scope, created_by, title, logo_url,"
        " primary_color",
    .key = "sha256"};

constexpr UpsertColumns session_columns{
    .all =
        "id, name, sha256, scope, tenant_id, role, created_at, expires_at, parent, portal,"
        " title, logo_url, primary_color",
    .key = "id"};

constexpr std::string_view set_limits_sql = R"sql(
  UPDATE registered_tenant
     SET webhooks_max =
           CASE WHEN CAST(?2 AS bigint) <> 0 THEN CAST(?3 AS bigint) ELSE webhooks_max END,
         events_per_minute =
           CASE WHEN CAST(?4 AS bigint) <> 0 THEN CAST(?5 AS bigint) ELSE events_per_minute END,
         timeout_ms_max =
           CASE WHEN CAST(?6 AS bigint) <> 0 THEN CAST(?7 AS bigint) ELSE timeout_ms_max END,
         max_in_flight_max =
           CASE WHEN CAST(?8 AS bigint) <> 0 THEN CAST(?9 AS bigint) ELSE max_in_flight_max END
   WHERE id = ?1
)sql";

template <class... Values>
Result<void> run(Database& database, std::string_view sql, const Values&... values) {
  POSTRIDER_TRY(Statement statement, database.prepare(sql));
  return statement.run(values...);
}

Result<std::vector<ApiKey>> load_keys(Database& database) {
  POSTRIDER_TRY(Statement statement,
                database.prepare("SELECT id, name, sha256, scope, tenant_id, created_at,"
                                 " expires_at, last_used_at, role"
                                 " FROM api_key ORDER BY id"));
  std::vector<ApiKey> keys;
  Query query = statement.query();
  for (;;) {
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return keys;
    }
    POSTRIDER_TRY(const KeyScope scope, read_scope(query.bytes(3)));
    POSTRIDER_TRY(const KeyRole role, read_role(query.bytes(8)));
    keys.push_back({.id = query.id<KeyId>(0),
                    .name = query.text(1),
                    .sha256 = query.text(2),
                    .scope = scope,
                    .tenant_id = query.text(4),
                    .role = role,
                    .created_at = query.time(5),
                    .expires_at = query.time_or_null(6),
                    .last_used_at = query.time_or_null(7)});
  }
}

/// The columns title, logo_url and primary_color, of which `first` is the first.
Branding read_branding(const Query& query, int first) {
  return {.title = query.text_or_null(first),
          .logo_url = query.text_or_null(first + 1),
          .primary_color = query.text_or_null(first + 2)};
}

Result<std::vector<ApiKey>> load_sessions(Database& database) {
  POSTRIDER_TRY(Statement statement,
                database.prepare("SELECT id, name, sha256, scope, tenant_id, role, created_at,"
                                 " expires_at, parent, portal, title, logo_url, primary_color"
                                 " FROM session ORDER BY id"));
  std::vector<ApiKey> sessions;
  Query query = statement.query();
  for (;;) {
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return sessions;
    }
    POSTRIDER_TRY(const KeyScope scope, read_scope(query.bytes(3)));
    POSTRIDER_TRY(const KeyRole role, read_role(query.bytes(5)));
    sessions.push_back({.id = query.id<KeyId>(0),
                        .name = query.text(1),
                        .sha256 = query.text(2),
                        .scope = scope,
                        .tenant_id = query.text(4),
                        .role = role,
                        .created_at = query.time(6),
                        .expires_at = query.time(7),
                        .session = SessionOrigin{.parent = query.id<KeyId>(8),
                                                 .portal = query.integer(9) != 0,
                                                 .branding = read_branding(query, 10)}});
  }
}

Result<std::vector<RegisteredTenant>> load_tenants(Database& database) {
  POSTRIDER_TRY(Statement statement,
                database.prepare("SELECT id, serial, name, metadata, pool, webhooks_max,"
                                 " events_per_minute, created_at, suspended_at,"
                                 " suspended_reason, timeout_ms_max, max_in_flight_max,"
                                 " contacts FROM registered_tenant ORDER BY serial"));
  std::vector<RegisteredTenant> tenants;
  Query query = statement.query();
  for (;;) {
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return tenants;
    }
    tenants.push_back({.id = query.text(0),
                       .serial = query.id<TenantSerial>(1),
                       .name = query.text_or_null(2),
                       .metadata = query.text(3),
                       .pool = query.text_or_null(4),
                       .limits = {.webhooks_max = query.as_or_null<std::uint32_t>(5),
                                  .events_per_minute = query.as_or_null<std::uint32_t>(6),
                                  .timeout_ms_max = query.as_or_null<std::uint32_t>(10),
                                  .max_in_flight_max = query.as_or_null<std::uint32_t>(11)},
                       .created_at = query.time(7),
                       .suspended_at = query.time_or_null(8),
                       .suspended_reason = query.text_or_null(9),
                       .contacts = stored::split_lines(query.bytes(12))});
  }
}

Result<std::vector<SignInLink>> load_links(Database& database) {
  POSTRIDER_TRY(Statement statement,
                database.prepare("SELECT sha256, tenant_id, session_ms, expires_at, role, scope,"
                                 " created_by, title, logo_url, primary_color"
                                 " FROM sign_in_link ORDER BY sha256"));
  std::vector<SignInLink> links;
  Query query = statement.query();
  for (;;) {
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return links;
    }
    POSTRIDER_TRY(const KeyRole role, read_role(query.bytes(4)));
    POSTRIDER_TRY(const KeyScope scope, read_scope(query.bytes(5)));
    links.push_back({.sha256 = query.text(0),
                     .tenant_id = query.text(1),
                     .session = Millis{query.integer(2)},
                     .expires_at = query.time(3),
                     .role = role,
                     .scope = scope,
                     .created_by = query.id<KeyId>(6),
                     .branding = read_branding(query, 7)});
  }
}

/// One overload per kind of change. Call within a transaction.
class ChangeVisitor {
 public:
  explicit ChangeVisitor(Database& database) : database_(database) {}

  Result<void> operator()(const AddKey& add) const {
    const ApiKey& key = add.key;
    POSTRIDER_CHECK(erase_offspring(key.id));
    return run(database_, upsert_sql("api_key", key_columns), key.id, key.name, Blob{key.sha256},
               to_column(key.scope), key.tenant_id, key.created_at, key.expires_at,
               key.last_used_at, to_string(key.role));
  }

  Result<void> operator()(const RemoveKey& remove) const {
    POSTRIDER_CHECK(erase_offspring(remove.id));
    return run(database_, "DELETE FROM api_key WHERE id = ?1", remove.id);
  }

  Result<void> operator()(const NoteKeyUses& note) const {
    POSTRIDER_TRY(Statement statement,
                  database_.prepare("UPDATE api_key SET last_used_at = ?2 WHERE id = ?1"));
    for (const auto& [id, at] : note.uses) {
      POSTRIDER_CHECK(statement.run(id, at));
    }
    return {};
  }

  Result<void> operator()(const AddTenant& add) const {
    const RegisteredTenant& tenant = add.tenant;
    POSTRIDER_CHECK(run(database_, "DELETE FROM registered_tenant WHERE id = ?1 AND serial <> ?2",
                        tenant.id, tenant.serial));
    return run(database_, upsert_sql("registered_tenant", tenant_columns), tenant.serial, tenant.id,
               tenant.name, tenant.metadata, tenant.pool, tenant.limits.webhooks_max,
               tenant.limits.events_per_minute, tenant.created_at, tenant.suspended_at,
               tenant.suspended_reason, tenant.limits.timeout_ms_max,
               tenant.limits.max_in_flight_max, stored::join_lines(tenant.contacts));
  }

  Result<void> operator()(const SetLimits& set) const {
    const LimitsChange& change = set.change;
    return run(database_, set_limits_sql, set.tenant_id, change.webhooks_max.has_value(),
               change.webhooks_max.value_or(std::nullopt), change.events_per_minute.has_value(),
               change.events_per_minute.value_or(std::nullopt), change.timeout_ms_max.has_value(),
               change.timeout_ms_max.value_or(std::nullopt), change.max_in_flight_max.has_value(),
               change.max_in_flight_max.value_or(std::nullopt));
  }

  Result<void> operator()(const SetContacts& set) const {
    return run(database_, "UPDATE registered_tenant SET contacts = ?2 WHERE id = ?1", set.tenant_id,
               stored::join_lines(set.contacts));
  }

  Result<void> operator()(const SuspendTenant& suspend) const {
    return run(database_,
               "UPDATE registered_tenant SET suspended_at = ?2, suspended_reason = ?3"
               " WHERE id = ?1 AND suspended_at IS NULL",
               suspend.tenant_id, suspend.at, suspend.reason);
  }

  Result<void> operator()(const ResumeTenant& resume) const {
    return run(database_,
               "UPDATE registered_tenant SET suspended_at = NULL, suspended_reason = NULL"
               " WHERE id = ?1",
               resume.tenant_id);
  }

  Result<void> operator()(const RemoveTenant& remove) const {
    const TenantId& id = remove.tenant_id;
    POSTRIDER_CHECK(run(database_, "DELETE FROM registered_tenant WHERE id = ?1", id));
    POSTRIDER_CHECK(
        run(database_, "DELETE FROM sign_in_link WHERE scope = 'tenant' AND tenant_id = ?1", id));
    POSTRIDER_CHECK(
        run(database_, "DELETE FROM session WHERE scope = 'tenant' AND tenant_id = ?1", id));
    return run(database_, "DELETE FROM api_key WHERE scope = 'tenant' AND tenant_id = ?1", id);
  }

  Result<void> operator()(const AddLink& add) const {
    const SignInLink& link = add.link;
    const Branding& branding = link.branding;
    return run(database_, upsert_sql("sign_in_link", link_columns), Blob{link.sha256},
               link.tenant_id, link.session, link.expires_at, to_string(link.role),
               to_column(link.scope), link.created_by, branding.title, branding.logo_url,
               branding.primary_color);
  }

  Result<void> operator()(const RedeemLink& redeem) const {
    POSTRIDER_CHECK(
        run(database_, "DELETE FROM sign_in_link WHERE sha256 = ?1", Blob{redeem.sha256}));
    if (database_.changes() == 0) {
      return fail(Errc::not_found, "There is no such link.");
    }
    return (*this)(AddSession{redeem.session});
  }

  Result<void> operator()(const AddSession& add) const {
    const ApiKey& key = add.session;
    const Branding& branding = key.session->branding;
    return run(database_, upsert_sql("session", session_columns), key.id, key.name,
               Blob{key.sha256}, to_column(key.scope), key.tenant_id, to_string(key.role),
               key.created_at, key.expires_at, key.session->parent, key.session->portal,
               branding.title, branding.logo_url, branding.primary_color);
  }

  Result<void> operator()(const EndSessions& end) const {
    for (const KeyId id : end.ids) {
      POSTRIDER_CHECK(run(database_, "DELETE FROM session WHERE id = ?1", id));
    }
    return {};
  }

  Result<void> operator()(const SweepExpired& sweep) const {
    POSTRIDER_CHECK(run(database_, "DELETE FROM sign_in_link WHERE expires_at <= ?1", sweep.now));
    return run(database_, "DELETE FROM session WHERE expires_at <= ?1", sweep.now);
  }

 private:
  /// Removes what was made with a key.
  [[nodiscard]] Result<void> erase_offspring(KeyId parent) const {
    POSTRIDER_CHECK(run(database_, "DELETE FROM sign_in_link WHERE created_by = ?1", parent));
    return run(database_, "DELETE FROM session WHERE parent = ?1", parent);
  }

  Database& database_;
};

class SqlRegistry final : public Registry {
 public:
  explicit SqlRegistry(std::shared_ptr<Writer> writer) : writer_(std::move(writer)) {}

  Result<RegistryContents> load() override {
    POSTRIDER_CHECK(writer_->usable());
    Database& database = writer_->database();
    RegistryContents contents;
    POSTRIDER_TRY(contents.keys, load_keys(database));
    POSTRIDER_TRY(contents.tenants, load_tenants(database));
    POSTRIDER_TRY(contents.links, load_links(database));
    POSTRIDER_TRY(contents.sessions, load_sessions(database));
    return contents;
  }

  Result<void> apply(const RegistryChange& change) override {
    return writer_->transact_repeatedly([this, &change]() -> Result<void> {
      return std::visit(ChangeVisitor{writer_->database()}, change);
    });
  }

 private:
  std::shared_ptr<Writer> writer_;
};

}  // namespace

std::unique_ptr<Registry> make_registry(std::shared_ptr<Writer> writer) {
  return std::make_unique<SqlRegistry>(std::move(writer));
}

}  // namespace postrider::sql
