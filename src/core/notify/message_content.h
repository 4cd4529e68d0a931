// What a message to the readers of a notification channel says, as values for templates. Pure.
//
// Values of a message: `subject`, `heading`, `count`, `kind`, `severity`, `transition`, `channel`,
// `more` (how many are not listed), `held_back` (how many are only counted), `summary_at` (when
// what is held back from now on is told), `summary` (not empty: it is a summary), `dashboard`; the
// list `items`.
//
// Values of an item: `title`, `detail`, `advice`, `link`, `kind`, `severity`, `transition`,
// `webhook`, `webhook_id`, `url`, `tenant`, `source`, `operation_id`, `alert_id`, `since`, `until`,
// `lasted`, `measured`, `limit`; the list `facts` with `label` and `value`, of those that are not
// empty.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/model/notification.h"
#include "core/notify/text_template.h"

namespace postrider {

/// More would not be read, and the chat services limit the size of a message.
constexpr std::size_t message_items_max = 20;

struct MessageFacts {
  std::span<const Notification> notifications = {};  // At least one.
  bool is_summary = false;
  std::uint64_t surplus = 0;
  std::optional<WallTime> summary_at = std::nullopt;
  std::string_view channel_name = {};
  std::string_view public_url =
      {};                   // Of the dashboard, without a slash at its end. Empty: no links.
  bool for_tenant = false;  // Hides what only the operator may see.
  Millis dead_letters_window = std::chrono::hours{1};
};

[[nodiscard]] TemplateScope describe_message(const MessageFacts& facts);

/// The page of the dashboard that shows more. Empty if `public_url` is.
[[nodiscard]] std::string dashboard_link(const Notification& notification,
                                         std::string_view public_url);

/// `2 h 5 min`, `45 s`.
[[nodiscard]] std::string length_text(Millis length);

/// Cuts long text at a character and appends `…`.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t bytes_max);

}  // namespace postrider
