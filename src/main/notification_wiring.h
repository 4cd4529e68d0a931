// Makes from the configuration what sends notifications.
#pragma once

#include <memory>

#include "core/base/result.h"
#include "ports/mailer.h"

#include "config/config.h"
#include "runtime/notifications/message_sender.h"

namespace postrider {

/// Null if no mail server is configured.
[[nodiscard]] std::unique_ptr<Mailer> make_mailer(const config::SmtpConfig& config);

/// Reads the templates. Fails with invalid if the directory cannot be read or a template is wrong;
/// the message names it.
[[nodiscard]] Result<NotificationOptions> notification_options(const config::Config& config);

}  // namespace postrider
