// What notifications of each kind say: a title, what to do next, and which page of the dashboard
// shows more. Pure.
#pragma once

#include <string>
#include <string_view>

#include "core/model/notification.h"

namespace postrider {

/// `{webhook}`, `{count}`, `{period}`, `{tenant}`, `{source}` and `{channel}` are placeholders.
struct KindText {
  std::string_view raised;    // Or finished, or of a test.
  std::string_view resolved;  // Empty: never told.
  std::string_view advice;
  std::string_view page;  // Of the dashboard; empty: that of the webhook, or all alerts.
};

[[nodiscard]] KindText text_of(NotificationKind kind);

}  // namespace postrider
