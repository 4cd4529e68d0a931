#include "runtime/admin/api_key_use.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace postrider {
namespace {

const WallTime now = wall_from_unix_ms(1'700'000'000'000);

ApiKey make_key(std::uint8_t number) {
  ApiKey key{.id = {},
             .name = {},
             .sha256 = std::string(32, static_cast<char>(number)),
             .scope = KeyScope::admin,
             .created_at = now};
  key.id.bytes[0] = number;
  return key;
}

TEST(ApiKeyUse, SurvivesRegistryChangesUntilItIsWritten) {
  const AccessSnapshot access{{.keys = {make_key(1), make_key(2)}, .tenants = {}, .links = {}}};
  const KeyId id = make_key(1).id;
  EXPECT_TRUE(unwritten_uses(access).uses.empty());
  note_use(*access.find_key(id), now);
  const AccessSnapshot later = access.with(AddKey{make_key(3)}, now).value();
  const NoteKeyUses note = unwritten_uses(later);
  ASSERT_EQ(note.uses.size(), 1u);
  EXPECT_EQ(note.uses[0], (std::pair{id, now}));
  mark_written(*later.find_key(id), now);
  EXPECT_TRUE(unwritten_uses(later).uses.empty());
  note_use(*later.find_key(id), now + Millis{999});  // Within the same second.
  EXPECT_TRUE(unwritten_uses(later).uses.empty());
  note_use(*later.find_key(id), now + Millis{1'000});
  EXPECT_EQ(unwritten_uses(later).uses.size(), 1u);
  EXPECT_EQ(last_used_at(*later.find_key(id)), now + Millis{1'000});
}

TEST(ApiKeyUse, StartsFromTheStoredUse) {
  ApiKey stored = make_key(1);
  EXPECT_EQ(last_used_at(AccessKey{stored}), std::nullopt);
  stored.last_used_at = now;
  const AccessKey key{stored};
  EXPECT_EQ(last_used_at(key), now);
  note_use(key, now - Millis{5'000});  // The clock was set back.
  EXPECT_EQ(last_used_at(key), now);
}

}  // namespace
}  // namespace postrider
