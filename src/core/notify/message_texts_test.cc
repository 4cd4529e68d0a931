#include "core/notify/message_texts.h"

#include <gtest/gtest.h>

#include "core/json/json_text.h"

namespace postrider {
namespace {

using Files = std::map<std::string, std::string>;

const TemplateScope scope{.values = {{"subject", "Circuit opened"}, {"bad", "\""}}, .lists = {}};

std::string error_of(const Files& files) {
  const Result<MessageTexts> made = MessageTexts::make(files);
  return made ? std::string{} : made.error().message;
}

TEST(MessageTexts, FilesReplaceTemplates) {
  const Result<MessageTexts> texts = MessageTexts::make(
      {{"subject.txt", "Alert: {{subject}}\n"}, {"slack.json", R"({"text":"{{subject}}!"})"}});
  ASSERT_TRUE(texts);
  EXPECT_EQ(texts->render(MessagePart::subject, scope), "Alert: Circuit opened");
  EXPECT_EQ(texts->render(MessagePart::slack, scope), R"({"text":"Circuit opened!"})");
  EXPECT_TRUE(check_json(texts->render(MessagePart::teams, scope)));
}

TEST(MessageTexts, OtherFilesAreIgnored) { EXPECT_EQ(error_of({{"README", "{{"}}), ""); }

TEST(MessageTexts, AWrongTemplateIsNamed) {
  EXPECT_EQ(error_of({{"mail.txt", "{{#items}}"}}), "mail.txt: The section `items` has no end.");
  EXPECT_TRUE(error_of({{"teams.json", "{{subject}}"}})
                  .starts_with("teams.json does not give valid JSON: "));
}

TEST(MessageTexts, AnythingButJsonIsNeverSentToAChatService) {
  // Valid for the example, which has no such value.
  const Result<MessageTexts> texts =
      MessageTexts::make({{"slack.json", R"({"text":"x"{{#bad}},{{/bad}}})"}});
  ASSERT_TRUE(texts);
  EXPECT_TRUE(texts->render(MessagePart::slack, scope).starts_with(R"({"text":"Circuit opened",)"));
}

TEST(MessageTexts, TheBuiltInTemplatesAreValidFiles) {
  Files files;
  for (std::size_t part = 0; part < message_part_count; ++part) {
    const auto each = static_cast<MessagePart>(part);
    files[std::string{file_name_of(each)}] = built_in_template(each);
  }
  EXPECT_EQ(files.size(), message_part_count);
  EXPECT_EQ(error_of(files), "");
}

}  // namespace
}  // namespace postrider
