// Collects what the observer is told about the current request of a connection. Private to the HTTP
// server; runs on the io thread of its connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/time.h"

#include "api/http/http.h"
#include "api/http/http_server.h"
#include "api/http/request_observer.h"

namespace postrider::api {

/// Does nothing and reads no clock while there is no active observer. Keeps the memory of its
/// strings from one request to the next.
class RequestWatch {
 public:
  /// The note for the handler of the request. Null if nobody is told.
  [[nodiscard]] RequestNote* note(const HttpServerOptions& options);

  /// The request has arrived, or was refused before it had: `request` is what is known of it.
  void begin(const HttpServerOptions& options, const HttpRequest& request);
  void answered(const HttpResponse& response, bool has_body);
  void piece_sent(std::size_t bytes) { response_bytes_ += bytes; }

  struct End {
    std::string_view request_id;
    bool is_whole = false;  // The response was written to its end.
  };
  /// Tells the observer, and prepares for the next request.
  void end(const HttpServerOptions& options, const End& how);

 private:
  bool is_active_ = false;
  MonoTime begun_at_;
  RequestNote note_;
  std::string method_;
  std::string remote_ip_;
  std::size_t request_bytes_ = 0;
  std::size_t response_bytes_ = 0;
  std::uint16_t status_ = 0;
};

}  // namespace postrider::api
