// Reads the notification channel that a request describes: a new one, or a change of an existing
// one. The webhook that a channel owns follows from the channel.
#pragma once

#include <memory>
#include <vector>

#include "core/json/json_text.h"

#include "api/resources/context.h"

namespace postrider::api {

constexpr std::string_view channel_noun = "notification channel";  // For problems.

/// Finds the channel that the path names. Fails with 404.
[[nodiscard]] Parsed<ChannelRef> path_channel(const Snapshots& snapshots,
                                              const HttpRequest& request);

/// A new channel. Its webhook, if its kind has one, has a secret and subscribes to nothing.
[[nodiscard]] Parsed<OwnedChannel> draft_new_channel(const Context& context,
                                                     std::vector<JsonMember> members);

/// The channel with its webhook. Fails with 404 if the webhook is gone.
[[nodiscard]] Parsed<OwnedChannel> find_owned(const Snapshots& snapshots,
                                              const NotificationChannel& channel);

/// `current` with the members merged into it.
[[nodiscard]] Parsed<OwnedChannel> draft_changed_channel(const Context& context,
                                                         OwnedChannel current,
                                                         std::vector<JsonMember> members);

/// An edit for the store thread that merges `body` again: another change may have been stored
/// since. A problem with the body goes to `merged`.
[[nodiscard]] ChannelEdit make_channel_edit(const Context& context, std::string body,
                                            std::shared_ptr<Parsed<void>> merged);

}  // namespace postrider::api
