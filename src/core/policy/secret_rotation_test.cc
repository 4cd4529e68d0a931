#include "core/policy/secret_rotation.h"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr WallTime noon = wall_from_unix_ms(1'767'268'800'000);

Secret<std::string> key(char letter) { return Secret{std::string(24, letter)}; }

Webhook webhook_with(char letter) {
  Webhook webhook;
  webhook.secret = key(letter);
  webhook.secret_set_at = noon - 24h;
  return webhook;
}

Webhook rotated(const Webhook& webhook, char letter, Millis grace, WallTime now = noon) {
  return rotate_secret(webhook, {.key = key(letter), .grace = grace}, now).value();
}

TEST(SecretRotation, OldSecretSignsUntilExactlyItsEnd) {
  const Webhook webhook = rotated(webhook_with('a'), 'b', 10s);
  EXPECT_EQ(webhook.secret, key('b'));
  EXPECT_EQ(webhook.secret_set_at, noon);
  const std::vector<OldSecret> old = {{key('a'), noon + 10s}};
  EXPECT_EQ(live_secrets(webhook, noon), old);
  EXPECT_EQ(live_secrets(webhook, noon + 9'999ms), old);
  EXPECT_FALSE(has_ended_secrets(webhook, noon + 9'999ms));
  EXPECT_TRUE(live_secrets(webhook, noon + 10s).empty());
  EXPECT_TRUE(has_ended_secrets(webhook, noon + 10s));
}

TEST(SecretRotation, WithoutGraceOnlyThePreviousSecretEnds) {
  const Webhook once = rotated(webhook_with('a'), 'b', 1h);
  const Webhook twice = rotated(once, 'c', 0s);
  EXPECT_EQ(twice.secret, key('c'));
  EXPECT_EQ(twice.old_secrets, (std::vector<OldSecret>{{key('a'), noon + 1h}}));
}

TEST(SecretRotation, WithoutGraceAllSecretsEndIfThereIsRoomForOneSignature) {
  for (const SignatureScheme scheme :
       {SignatureScheme::sha256_body, SignatureScheme::sha256_timestamp}) {
    Webhook webhook = webhook_with('a');
    webhook.signature.scheme = scheme;
    const Webhook once = rotated(webhook, 'b', 1h);
    ASSERT_EQ(once.old_secrets.size(), 1u);
    EXPECT_TRUE(rotated(once, 'c', 0s).old_secrets.empty());
    Webhook replaced = once;
    replace_secret(replaced, key('b'));
    EXPECT_EQ(replaced, once) << "the same secret";
    replace_secret(replaced, key('c'));
    EXPECT_EQ(replaced.secret, key('c'));
    EXPECT_TRUE(replaced.old_secrets.empty());
  }
}

TEST(SecretRotation, KeepsOldSecretsNewestFirstAndDropsEndedOnes) {
  const Webhook once = rotated(webhook_with('a'), 'b', 1h);
  const Webhook twice = rotated(once, 'c', 2h, noon + 30min);
  EXPECT_EQ(twice.old_secrets,
            (std::vector<OldSecret>{{key('b'), noon + 2h + 30min}, {key('a'), noon + 1h}}));
  const Webhook thrice = rotated(twice, 'd', 1h, noon + 1h);
  EXPECT_EQ(thrice.old_secrets,
            (std::vector<OldSecret>{{key('c'), noon + 2h}, {key('b'), noon + 2h + 30min}}));
}

TEST(SecretRotation, EleventhOldSecretIsAConflictThatNamesTheTimeToWaitFor) {
  Webhook webhook = webhook_with('a');
  for (int i = 1; i <= 10; ++i) {
    webhook = rotated(webhook, static_cast<char>('a' + i), 1h * i);
  }
  ASSERT_EQ(webhook.old_secrets.size(), old_secrets_max);
  const Result<Webhook> refused = rotate_secret(webhook, {.key = key('z'), .grace = 1s}, noon);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Errc::conflict);
  EXPECT_NE(refused.error().message.find(to_rfc3339(noon + 1h)), std::string::npos);

  // Without grace the rotation is always possible: in an emergency there is no time to wait.
  EXPECT_EQ(rotated(webhook, 'z', 0s).secret, key('z'));
  // Once the first has ended there is room.
  EXPECT_EQ(rotated(webhook, 'z', 1s, noon + 1h).old_secrets.size(), old_secrets_max);
}

TEST(SecretRotation, RejectsTheCurrentSecret) {
  const Result<Webhook> refused = rotate_secret(webhook_with('a'), {.key = key('a')}, noon);
  EXPECT_EQ(refused.error().code, Errc::invalid);
}

TEST(SecretRotation, SecretIsOldAfterNinetyDays) {
  Webhook webhook = webhook_with('a');
  webhook.secret_set_at = noon;
  EXPECT_FALSE(secret_is_old(webhook, noon + 90 * 24h));
  EXPECT_TRUE(secret_is_old(webhook, noon + 90 * 24h + 1ms));
}

}  // namespace
}  // namespace postrider
