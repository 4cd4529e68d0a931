#include "adapters/sql/admin/webhook_secrets.h"

#include <charconv>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/request/signature.h"
#include "core/stored/attempt_detail.h"

#include "adapters/sql/admin/request_shape_rows.h"

namespace postrider::sql {
namespace {

// Removed webhooks may still have request shapes.
constexpr std::string_view next_ids_sql = R"sql(
  SELECT id FROM webhook WHERE id > ?1
   UNION
  SELECT webhook_id FROM request_shape WHERE webhook_id > ?1 ORDER BY 1 LIMIT ?2
)sql";

constexpr std::string_view range_sql =
    "SELECT id, secret, old_secrets, headers, sealed FROM webhook WHERE id > ?1 AND id <= ?2"
    " ORDER BY id";

constexpr std::string_view update_sql =
    "UPDATE webhook SET secret = ?2, old_secrets = ?3, headers = ?4, sealed = 1 WHERE id = ?1";

/// The vault's context of a value, which can be opened only with the same context.
std::string vault_context(WebhookId id, std::string_view field) {
  return fmt::format("webhook/{}/{}", id.to_string(), field);
}

/// Returns the columns after `change(bytes, field)` of each.
template <class Change>
Result<SecretColumns> for_each_column(const SecretColumns& columns, bool sealed, Change change) {
  SecretColumns changed{.sealed = sealed};
  POSTRIDER_TRY(changed.secret, change(columns.secret, "secret"));
  POSTRIDER_TRY(changed.old_secrets, change(columns.old_secrets, "old_secrets"));
  POSTRIDER_TRY(changed.headers, change(columns.headers, "headers"));
  return changed;
}

SecretColumns seal(const SecretColumns& plain, WebhookId id, const Vault& vault) {
  const auto seal_one = [&](const std::string& bytes, std::string_view field) {
    return Result<std::string>{vault.seal(bytes, vault_context(id, field))};
  };
  return for_each_column(plain, true, seal_one).value();
}

Result<SecretColumns> open(const SecretColumns& columns, WebhookId id, const Vault* vault) {
  if (!columns.sealed) {
    return columns;
  }
  if (vault == nullptr) {
    return fail(Errc::invalid,
                "The stored secrets are encrypted, but no key is configured. Set "
                "--secrets-key-file or POSTRIDER_SECRETS_KEY.");
  }
  return for_each_column(columns, false, [&](const std::string& bytes, std::string_view field) {
    return vault->open(bytes, vault_context(id, field));
  });
}

std::string pack_old_secrets(const std::vector<OldSecret>& secrets) {
  std::string text;
  for (const OldSecret& old : secrets) {
    text += fmt::format("{} {}\n", to_unix_ms(old.ends_at), to_base64(old.key.reveal()));
  }
  return text;
}

Result<std::vector<OldSecret>> unpack_old_secrets(std::string_view text) {
  std::vector<OldSecret> secrets;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    std::int64_t ends_at = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), ends_at);
    const auto number_length = static_cast<std::size_t>(end - line.data());
    std::optional<std::string> key =
        error == std::errc{} && number_length < line.size() && line[number_length] == ' '
            ? from_base64(line.substr(number_length + 1))
            : std::nullopt;
    if (!key) {
      return fail(Errc::corrupt, "A stored old secret is damaged.");
    }
    secrets.push_back({.key = Secret{*std::move(key)}, .ends_at = wall_from_unix_ms(ends_at)});
  }
  return secrets;
}

struct SecretRow {
  WebhookId id;
  SecretColumns columns;
};

struct WebhookBatch {
  WebhookRange range;
  std::uint32_t count = 0;  // Webhooks in the range, including removed ones.
};

/// At most `limit` webhooks after `after`.
Result<WebhookBatch> next_batch(Database& database, WebhookId after, std::uint32_t limit) {
  POSTRIDER_TRY(Statement statement, database.prepare(next_ids_sql));
  WebhookBatch batch{.range = {.after = after, .last = after}};
  Query query = statement.query(after, limit);
  for (;;) {
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return batch;
    }
    batch.range.last = query.id<WebhookId>(0);
    ++batch.count;
  }
}

Result<std::vector<SecretRow>> read_rows(Database& database, const WebhookRange& range) {
  POSTRIDER_TRY(Statement statement,
                database.prepare(std::string{range_sql}.append(database.row_lock())));
  std::vector<SecretRow> rows;
  Query query = statement.query(range.after, range.last);
  for (;;) {
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return rows;
    }
    rows.push_back({.id = query.id<WebhookId>(0),
                    .columns = {.secret = query.text(1),
                                .old_secrets = query.text(2),
                                .headers = query.text(3),
                                .sealed = query.integer(4) != 0}});
  }
}

bool is_current(const SecretColumns& columns, const Vault& vault) {
  return columns.sealed && vault.is_current(columns.secret) &&
         vault.is_current(columns.old_secrets) && vault.is_current(columns.headers);
}

}  // namespace

SecretColumns pack_secrets(const Webhook& webhook, const Vault* vault) {
  SecretColumns columns{.secret = webhook.secret.reveal(),
                        .old_secrets = pack_old_secrets(webhook.old_secrets)};
  stored::pack_headers(webhook.headers, columns.headers);
  return vault != nullptr ? seal(columns, webhook.id, *vault) : columns;
}

Result<void> unpack_secrets(const SecretColumns& columns, const Vault* vault, Webhook& webhook) {
  POSTRIDER_TRY(const SecretColumns plain, open(columns, webhook.id, vault));
  webhook.secret = Secret{plain.secret};
  POSTRIDER_TRY(webhook.old_secrets, unpack_old_secrets(plain.old_secrets));
  POSTRIDER_TRY(webhook.headers, stored::unpack_headers(plain.headers));
  return {};
}

Result<ResealStep> reseal_webhooks(Database& database, const Vault& vault,
                                   std::optional<WebhookId> after, std::uint32_t limit) {
  POSTRIDER_TRY(const WebhookBatch batch, next_batch(database, after.value_or(WebhookId{}), limit));
  POSTRIDER_TRY(const std::vector<SecretRow> rows, read_rows(database, batch.range));
  POSTRIDER_TRY(Statement update, database.prepare(update_sql));
  ResealStep step;
  for (const SecretRow& row : rows) {
    if (is_current(row.columns, vault)) {
      continue;
    }
    POSTRIDER_TRY(const SecretColumns plain, open(row.columns, row.id, &vault));
    const SecretColumns sealed = seal(plain, row.id, vault);
    POSTRIDER_CHECK(
        update.run(row.id, Blob{sealed.secret}, Blob{sealed.old_secrets}, Blob{sealed.headers}));
    ++step.resealed;
  }
  POSTRIDER_CHECK(reseal_shapes(database, batch.range, vault));
  if (batch.count == limit) {
    step.next = batch.range.last;
  }
  return step;
}

}  // namespace postrider::sql
