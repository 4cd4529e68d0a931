#include "adapters/system/node_file.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

namespace postrider {
namespace {

constexpr const char* boot = "boot-1";

NodeId node(std::uint8_t number) { return NodeId{{number}}; }

class NodeFileTest : public testing::Test {
 protected:
  ~NodeFileTest() override { std::filesystem::remove_all(directory_); }

  std::unique_ptr<NodeFile> open(std::uint8_t number, const std::string& at = boot) {
    Result<std::unique_ptr<NodeFile>> file = open_node_file(directory_, node(number), at);
    EXPECT_TRUE(file) << file.error().message;
    return *std::move(file);
  }

  std::string directory_ =
      std::filesystem::temp_directory_path() / ("node-file-test-" + std::to_string(::getpid()));
};

TEST_F(NodeFileTest, NamesTheServerThatUsedTheDirectoryBefore) {
  EXPECT_EQ(open(1)->predecessor(), std::nullopt);
  EXPECT_EQ(open(2)->predecessor(), node(1));
  EXPECT_EQ(open(3)->predecessor(), node(2));
}

TEST_F(NodeFileTest, NamesNoServerOfAnEarlierStartOfTheMachine) {
  open(1);
  EXPECT_EQ(open(2, "boot-2")->predecessor(), std::nullopt);
  EXPECT_EQ(open(3, "boot-2")->predecessor(), node(2));
  EXPECT_EQ(open(4, "")->predecessor(), std::nullopt);
  EXPECT_EQ(open(5, "")->predecessor(), std::nullopt);  // The start of the machine is unknown.
}

TEST_F(NodeFileTest, RefusesADirectoryThatIsInUse) {
  const std::unique_ptr<NodeFile> first = open(1);
  const auto second = open_node_file(directory_, node(2), boot);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::conflict);
  EXPECT_NE(second.error().message.find(directory_), std::string::npos);
}

TEST_F(NodeFileTest, ACopyOfTheDirectoryNamesNoServer) {
  const std::unique_ptr<NodeFile> original = open(1);
  const std::string copy = directory_ + "-copy";
  std::filesystem::copy(directory_, copy);
  const auto opened = open_node_file(copy, node(2), boot);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ((*opened)->predecessor(), std::nullopt) << "the original may still run";
  std::filesystem::remove_all(copy);
}

TEST_F(NodeFileTest, AMovedDirectoryStillNamesItsServer) {
  open(1);
  const std::string moved = directory_ + "-moved";
  std::filesystem::rename(directory_, moved);
  const auto opened = open_node_file(moved, node(2), boot);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ((*opened)->predecessor(), node(1));
  std::filesystem::remove_all(moved);
}

TEST_F(NodeFileTest, IgnoresDamagedContent) {
  open(1);
  for (const char* content :
       {"", "boot-1", "boot-1 ", "boot-1 nod_x\n", "\n", "boot-1 1 2 ", "boot-1 1 2 nod_x\n"}) {
    std::ofstream{directory_ + "/node", std::ios::trunc} << content;
    EXPECT_EQ(open(2)->predecessor(), std::nullopt) << content;
  }
}

TEST_F(NodeFileTest, TheDirectoryIsMadeForItsOwnerOnly) {
  open(1);
  const auto permissions = std::filesystem::status(directory_).permissions();
  EXPECT_EQ(permissions & std::filesystem::perms::all, std::filesystem::perms::owner_all);
}

TEST(BootId, IsTheSameForAsLongAsTheMachineRuns) {
  EXPECT_FALSE(boot_id().empty());
  EXPECT_EQ(boot_id(), boot_id());
}

}  // namespace
}  // namespace postrider
