#include "core/notify/message_texts.h"

#include <utility>

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/trim.h"
#include "core/json/json_text.h"
#include "core/notify/message_content.h"

namespace postrider {
namespace {

constexpr std::string_view subject_template = "[Postrider] {{subject}}";

constexpr std::string_view text_template = R"(
{{#summary}}
{{heading}}. At most so many messages are sent within an hour.

{{/summary}}
{{#items}}
{{title}}

{{detail}}

{{#facts}}
{{label}}: {{value}}
{{/facts}}
{{#advice}}

What to do: {{advice}}
{{/advice}}
{{#link}}

{{link}}
{{/link}}
{{^last}}

----------------------------------------

{{/last}}
{{/items}}
{{#more}}

{{more}} more are not listed.
{{/more}}
{{#held_back}}

{{held_back}} further notifications were held back.
{{/held_back}}
{{#summary_at}}

The limit of messages within an hour is reached. What follows is told at {{summary_at}}.
{{/summary_at}}

Sent by Postrider through the notification channel {{channel}}.
)";

constexpr std::string_view html_template = R"(<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>{{heading}}</title></head>
<body style="font-family: sans-serif; color: #1a1b1e; max-width: 42rem">
{{#summary}}
<p><strong>{{heading}}.</strong> At most so many messages are sent within an hour.</p>
{{/summary}}
{{#items}}
<h2 style="font-size: 1.1rem">{{title}}</h2>
<p>{{detail}}</p>
<table style="border-collapse: collapse">
{{#facts}}
<tr><th style="text-align: left; padding: 2px 12px 2px 0">{{label}}</th><td>{{value}}</td></tr>
{{/facts}}
</table>
{{#advice}}
<p><strong>What to do:</strong> {{advice}}</p>
{{/advice}}
{{#link}}
<p><a href="{{link}}">Open in Postrider</a></p>
{{/link}}
{{/items}}
{{#more}}
<p>{{more}} more are not listed.</p>
{{/more}}
{{#held_back}}
<p>{{held_back}} further notifications were held back.</p>
{{/held_back}}
{{#summary_at}}
<p>The limit of messages within an hour is reached. What follows is told at {{summary_at}}.</p>
{{/summary_at}}
<p style="color: #868e96; font-size: 0.8rem">Sent by Postrider through the notification channel
{{channel}}.</p>
</body>
</html>
)";

// What both chat services show below the items.
#define POSTRIDER_CHAT_FOOTER                                                             \
  "{{#more}}{{more}} more are not listed. {{/more}}"                                      \
  "{{#held_back}}{{held_back}} further notifications were held back. {{/held_back}}"      \
  "{{#summary_at}}The limit of messages within an hour is reached. What follows is told " \
  "at {{summary_at}}. {{/summary_at}}"                                                    \
  "Sent by Postrider through the notification channel {{channel}}."

constexpr std::string_view slack_template = R"({"text":"{{subject}}","blocks":[
{"type":"header","text":{"type":"plain_text","text":"{{heading}}"}}
{{#items}}
,{"type":"section","text":{"type":"mrkdwn","text":"*{{title}}*\n{{detail}})"
                                            R"({{#facts}}\n*{{label}}:* {{value}}{{/facts}})"
                                            R"({{#advice}}\n_What to do:_ {{advice}}{{/advice}})"
                                            R"({{#link}}\n<{{link}}|Open in Postrider>{{/link}}"}}
{{/items}}
,{"type":"context","elements":[{"type":"mrkdwn","text":")" POSTRIDER_CHAT_FOOTER R"("}]}
]})";

constexpr std::string_view teams_template =
    R"({"type":"message","attachments":[{)"
    R"("contentType":"application/vnd.microsoft.card.adaptive","contentUrl":null,"content":{
"$schema":"http://adaptivecards.io/schemas/adaptive-card.json",
"type":"AdaptiveCard","version":"1.4","body":[
{"type":"TextBlock","size":"Large","weight":"Bolder","wrap":true,"text":"{{heading}}"}
{{#items}}
,{"type":"TextBlock","weight":"Bolder","wrap":true,"separator":true,"text":"{{title}}"}
,{"type":"TextBlock","wrap":true,"text":"{{detail}}"}
,{"type":"FactSet","facts":[
{{#facts}}
{{^first}},{{/first}}{"title":"{{label}}","value":"{{value}}"}
{{/facts}}
]}
{{#advice}}
,{"type":"TextBlock","wrap":true,"text":"What to do: {{advice}}"}
{{/advice}}
{{#link}}
,{"type":"ActionSet","actions":[
{"type":"Action.OpenUrl","title":"Open in Postrider","url":"{{&link}}"}
]}
{{/link}}
{{/items}}
,{"type":"TextBlock","isSubtle":true,"wrap":true,"text":")" POSTRIDER_CHAT_FOOTER R"("}
]}}]})";

constexpr std::array<MessagePart, message_part_count> all_parts{
    MessagePart::subject, MessagePart::text, MessagePart::html, MessagePart::slack,
    MessagePart::teams};

TemplateForm form_of(MessagePart part) {
  switch (part) {
    case MessagePart::html:
      return TemplateForm::html;
    case MessagePart::slack:
      return TemplateForm::slack;
    case MessagePart::teams:
      return TemplateForm::teams;
    case MessagePart::subject:
    case MessagePart::text:
      break;
  }
  return TemplateForm::text;
}

bool must_be_json(MessagePart part) {
  return part == MessagePart::slack || part == MessagePart::teams;
}

/// A message with everything that a message can have.
TemplateScope example() {
  Notification notification;
  notification.kind = NotificationKind::of(AlertKind::circuit_opened);
  notification.transition = NotificationTransition::resolved;
  notification.alert_id = AlertId{};
  notification.facts = {.tenant_id = "acme",
                        .webhook_id = WebhookId{},
                        .webhook_name = "\"Orders\"",
                        .webhook_url = "https://example.com/",
                        .source = "orders",
                        .operation_id = OperationId{},
                        .detail = "2 of 2 attempts (100 %) failed.",
                        .measure = AlertMeasure{.count = 100, .limit = 50},
                        .raised_at = {},
                        .resolved_at = WallTime{},
                        .owner_email = std::nullopt};
  const std::vector<Notification> many(message_items_max + 1, notification);
  return describe_message({.notifications = many,
                           .is_summary = true,
                           .surplus = 1,
                           .summary_at = WallTime{},
                           .channel_name = "Operators",
                           .public_url = "https://postrider.example.com"});
}

}  // namespace

std::string_view file_name_of(MessagePart part) {
  switch (part) {
    case MessagePart::subject:
      return "subject.txt";
    case MessagePart::text:
      return "mail.txt";
    case MessagePart::html:
      return "mail.html";
    case MessagePart::slack:
      return "slack.json";
    case MessagePart::teams:
      break;
  }
  return "teams.json";
}

std::string_view built_in_template(MessagePart part) {
  switch (part) {
    case MessagePart::subject:
      return subject_template;
    case MessagePart::text:
      return text_template.substr(1);  // Without the first line break.
    case MessagePart::html:
      return html_template;
    case MessagePart::slack:
      return slack_template;
    case MessagePart::teams:
      break;
  }
  return teams_template;
}

Result<MessageTexts> MessageTexts::make(const std::map<std::string, std::string>& files) {
  MessageTexts texts;
  for (const MessagePart part : all_parts) {
    const auto index = static_cast<std::size_t>(part);
    Result<TextTemplate> built_in = TextTemplate::parse(built_in_template(part), form_of(part));
    POSTRIDER_ASSERT(built_in.has_value());
    texts.built_in_[index] = *built_in;
    texts.chosen_[index] = *std::move(built_in);
    const std::string name{file_name_of(part)};
    const auto file = files.find(name);
    if (file == files.end()) {
      continue;
    }
    Result<TextTemplate> parsed = TextTemplate::parse(file->second, form_of(part));
    if (!parsed) {
      return fail(Errc::invalid, fmt::format("{}: {}.", name, parsed.error().message));
    }
    if (must_be_json(part)) {
      if (const Result<void> checked = check_json(parsed->render(example())); !checked) {
        return fail(Errc::invalid,
                    fmt::format("{} does not give valid JSON: {}", name, checked.error().message));
      }
    }
    texts.chosen_[index] = *std::move(parsed);
  }
  return texts;
}

std::string MessageTexts::render(MessagePart part, const TemplateScope& scope) const {
  const auto index = static_cast<std::size_t>(part);
  std::string text = chosen_[index].render(scope);
  if (must_be_json(part) && !check_json(text)) {
    return built_in_[index].render(scope);
  }
  if (part == MessagePart::subject) {
    return std::string{trim(text, white_space)};
  }
  return text;
}

}  // namespace postrider
