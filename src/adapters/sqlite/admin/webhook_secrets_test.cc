// Encryption of secrets: the contract holds with a key, and the file then contains no plain text.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "adapters/openssl/aes_vault.h"
#include "adapters/sqlite/database/data_directory.h"

#include "tests/contract/store_contract.h"
#include "tests/support/open_sqlite.h"

namespace postrider::test {
namespace {

std::shared_ptr<const Vault> vault_of(const std::string& letters) {
  std::vector<VaultKey> keys;
  for (const char letter : letters) {
    keys.emplace_back(std::string(32, letter));
  }
  return make_aes_vault(std::move(keys));
}

}  // namespace

POSTRIDER_STORE_SUITE(Sealed, CatalogContract,
                      StoreFactory{"sqlite",
                                   [] { return std::make_unique<OpenSqlite>(vault_of("a")); }});

namespace {

constexpr std::string_view canary = "canary-canary-canary-canary";

Webhook canary_webhook(std::uint8_t number) {
  Webhook webhook = sample_webhook(StoreScript::webhook(number));
  webhook.secret = Secret{std::string{canary}};
  webhook.old_secrets = {{Secret{"old-" + std::string{canary}}, wall_time_max}};
  webhook.headers = {{"Authorization", std::string{canary}}};
  return webhook;
}

/// The bytes of the database file and its log.
std::string bytes_on_disk(const OpenSqlite& store) {
  std::string all;
  for (const std::string suffix : {"", "-wal"}) {
    std::ifstream file{sqlite::database_file(store.options().directory).string() + suffix,
                       std::ios::binary};
    all.append(std::istreambuf_iterator<char>{file}, {});
  }
  return all;
}

bool file_contains_canary(const OpenSqlite& store) {
  const std::string bytes = bytes_on_disk(store);
  return bytes.find(canary) != std::string::npos ||
         bytes.find(to_base64("old-" + std::string{canary})) != std::string::npos;
}

void put(OpenSqlite& store, int count) {
  for (int number = 1; number <= count; ++number) {
    ASSERT_TRUE(store.store()
                    .catalog->put_webhook(canary_webhook(static_cast<std::uint8_t>(number)))
                    .has_value());
  }
}

std::uint32_t reseal_all(OpenSqlite& store, std::uint32_t limit) {
  std::uint32_t resealed = 0;
  ResealStep step;
  do {
    step = store.store().catalog->reseal_webhooks(step.next, limit).value();
    resealed += step.resealed;
  } while (step.next);
  return resealed;
}

TEST(WebhookSecrets, WithoutAKeyTheyAreStoredInPlainText) {
  OpenSqlite store;
  put(store, 1);
  EXPECT_TRUE(file_contains_canary(store));  // The search works.
  EXPECT_EQ(reseal_all(store, 10), 0u);
}

TEST(WebhookSecrets, WithAKeyTheFileContainsNoPlainText) {
  OpenSqlite store{vault_of("a")};
  put(store, 3);
  EXPECT_FALSE(file_contains_canary(store));
  EXPECT_EQ(store.store().catalog->load_webhooks()->at(0), canary_webhook(1));
}

TEST(WebhookSecrets, ResealingEncryptsExistingSecretsAndWipesThePlainText) {
  OpenSqlite store;
  put(store, 40);
  ASSERT_TRUE(store.store().catalog->remove_webhook(canary_webhook(40).id, WallTime{}));
  store.reopen_with(vault_of("a"));
  EXPECT_EQ(reseal_all(store, 7), 39u);
  EXPECT_FALSE(file_contains_canary(store));
  EXPECT_EQ(reseal_all(store, 7), 0u);
  EXPECT_EQ(store.store().catalog->load_webhooks()->at(38), canary_webhook(39));
  store.reopen();
  EXPECT_FALSE(file_contains_canary(store));
}

TEST(WebhookSecrets, ResealingReplacesTheOldKey) {
  OpenSqlite store{vault_of("a")};
  put(store, 3);
  store.reopen_with(vault_of("ba"));
  EXPECT_EQ(store.store().catalog->load_webhooks()->size(), 3u);
  EXPECT_EQ(reseal_all(store, 3), 3u);
  store.reopen_with(vault_of("b"));
  EXPECT_EQ(store.store().catalog->load_webhooks()->at(2), canary_webhook(3));
}

TEST(WebhookSecrets, WrongOrMissingKeyIsReportedWithTheFix) {
  OpenSqlite store{vault_of("a")};
  put(store, 1);
  store.reopen_with(vault_of("b"));
  EXPECT_EQ(store.store().catalog->load_webhooks().error().code, Errc::invalid);
  store.reopen_with(nullptr);
  const Result<std::vector<Webhook>> loaded = store.store().catalog->load_webhooks();
  ASSERT_FALSE(loaded.has_value());
  EXPECT_EQ(loaded.error().code, Errc::invalid);
  EXPECT_NE(loaded.error().message.find("--secrets-key-file"), std::string::npos);
}

}  // namespace
}  // namespace postrider::test
