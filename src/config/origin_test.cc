#include "config/origin.h"

#include <gtest/gtest.h>

namespace postrider::config {
namespace {

TEST(Origin, IsSplitIntoSourceAndDetail) {
  EXPECT_EQ(split_origin("default"), (Origin{"default", std::nullopt}));
  EXPECT_EQ(split_origin("profile tenant"), (Origin{"profile", "tenant"}));
  EXPECT_EQ(split_origin("etc/postrider.toml:12"), (Origin{"file", "etc/postrider.toml:12"}));
  EXPECT_EQ(split_origin("environment POSTRIDER_LISTEN"),
            (Origin{"environment", "POSTRIDER_LISTEN"}));
  EXPECT_EQ(split_origin("flag --set"), (Origin{"flag", "--set"}));
}

TEST(Origin, OfAPresetIsThatOfThePreset) {
  EXPECT_EQ(split_origin("preset, profile tenant"), (Origin{"profile", "preset, tenant"}));
  EXPECT_EQ(split_origin("preset, own.toml:3"), (Origin{"file", "preset, own.toml:3"}));
}

TEST(Origin, AFileMayHaveAnyName) {
  for (const char* text : {"default:1", "profile tenant:1", "flag --set:20", "my file.toml:7"}) {
    EXPECT_EQ(split_origin(text), (Origin{"file", text})) << text;
  }
}

}  // namespace
}  // namespace postrider::config
