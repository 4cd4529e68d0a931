// What is known about a request when its response has been written, and who is told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/model/trace.h"

namespace postrider::api {

/// What only the handler of a request knows, and fills in.
struct RequestNote {
  std::string_view route;       // The pattern. Must stay valid. Empty: the path has none.
  bool is_routine = false;      // A probe, a scrape or a file: of interest only to find a fault.
  std::optional<KeyId> key_id;  // The key that answers for the request, never its text.
  std::string tenant_id;        // Of the key. Empty: none.
  std::optional<EventId> event_id;  // The event that was published, now or by an earlier request.
  std::optional<TraceId> trace_id;  // Of that event, or of the client.
};

/// Valid during the call only.
struct RequestRecord {
  std::string_view request_id;
  std::string_view method;  // Empty if the request line was refused.
  std::string_view remote_ip;
  const RequestNote& note;
  std::uint16_t status = 0;
  Micros duration{0};              // From the whole request to the last byte of the response.
  std::size_t request_bytes = 0;   // Of the body.
  std::size_t response_bytes = 0;  // Of the body, as far as it was passed to the socket.
  bool is_cut = false;             // The response was not written to its end.
};

/// Called on the io threads of all listeners.
class RequestObserver {
 public:
  virtual ~RequestObserver() = default;

  /// If false, requests are not timed and `request_done` is not called.
  [[nodiscard]] virtual bool is_active() const = 0;

  /// Called once per response, also for requests that no handler has seen.
  virtual void request_done(const RequestRecord& record) = 0;
};

}  // namespace postrider::api
