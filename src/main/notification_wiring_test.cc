#include "main/notification_wiring.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace postrider {
namespace {

class NotificationWiring : public testing::Test {
 protected:
  NotificationWiring() {
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
    config_.notifications.templates = directory_.string();
  }
  ~NotificationWiring() override { std::filesystem::remove_all(directory_); }

  void write(const std::string& name, const std::string& text) {
    std::ofstream{directory_ / name} << text;
  }

  std::filesystem::path directory_ =
      std::filesystem::path{testing::TempDir()} / "postrider-templates";
  config::Config config_;
};

TEST_F(NotificationWiring, ReadsTemplatesFromFiles) {
  write("subject.txt", "Look: {{subject}}\n");
  write("notes.md", "{{");
  config_.public_url = "https://postrider.example.com/";
  const Result<NotificationOptions> options = notification_options(config_);
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->public_url, "https://postrider.example.com");
  EXPECT_EQ(
      options->texts.render(MessagePart::subject, {.values = {{"subject", "x"}}, .lists = {}}),
      "Look: x");
}

TEST_F(NotificationWiring, NamesAWrongTemplate) {
  write("mail.txt", "{{#items}}");
  const Result<NotificationOptions> options = notification_options(config_);
  ASSERT_FALSE(options);
  EXPECT_EQ(options.error().message,
            directory_.string() + "/mail.txt: The section `items` has no end.");
}

TEST_F(NotificationWiring, NamesAMissingDirectory) {
  config_.notifications.templates = "/nonexistent";
  const Result<NotificationOptions> options = notification_options(config_);
  ASSERT_FALSE(options);
  EXPECT_EQ(options.error().message, "notifications.templates: /nonexistent is not a directory.");
}

TEST_F(NotificationWiring, WithoutAServerThereIsNoMailer) {
  EXPECT_EQ(make_mailer(config_.smtp), nullptr);
  config_.smtp.server = "mail.example.com";
  EXPECT_NE(make_mailer(config_.smtp), nullptr);
}

}  // namespace
}  // namespace postrider
