// Ends a streamed answer when its caller's key or session ends, or when its portal is closed.
// Nothing is sent after that.
#pragma once

#include "engine/admin/access_snapshot.h"

#include "api/resources/context.h"

namespace postrider::api {

/// What a guard needs to know about keys. Both must outlive the stream.
struct KeyWatch {
  const Snapshots& snapshots;
  const Clock& clock;
  KeyId key;  // Of a key or a session.
};

/// Awaits the handler's answer and guards its stream, if it has one.
[[nodiscard]] Awaitable<Reply> guard_stream(Awaitable<Reply> handling, KeyWatch watch);

}  // namespace postrider::api
