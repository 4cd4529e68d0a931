// An HTTP request and response as plain values, and the handler type that connects them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/awaitable.hpp>

namespace postrider::api {

struct RequestNote;

struct HttpRequest {
  std::string method;  // Upper case, as sent.
  std::string path;    // Percent-decoded, without the query. Always starts with `/`.
  std::vector<std::pair<std::string, std::string>> query;    // Decoded, in order.
  std::vector<std::pair<std::string, std::string>> headers;  // Names in lower case, in order.
  std::string body;
  std::string remote_ip;
  std::string request_id;                              // From X-Request-Id, or generated.
  bool head_checked = false;                           // It has been counted: see HeadCheck.
  std::map<std::string, std::string> path_parameters;  // Filled by the router: `{id}`.
  /// For the observer of requests. Null if there is none. Valid until the handler has answered.
  RequestNote* note = nullptr;

  /// The first header with that name. `name` must be in lower case.
  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const;
  [[nodiscard]] std::optional<std::string_view> query_value(std::string_view name) const;
};

/// A response body that is produced piece by piece. Owned by the response; runs on the io thread of
/// its connection.
class BodyStream {
 public:
  virtual ~BodyStream() = default;

  /// Waits for the next piece. An empty piece ends the body.
  virtual boost::asio::awaitable<std::string> next() = 0;

  /// Called when the server drains or the client has disconnected. After it `next` may return a
  /// last piece, and must end the body without waiting.
  virtual void stop() = 0;
};

struct HttpResponse {
  std::uint16_t status = 200;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::shared_ptr<BodyStream> stream = nullptr;  // If set, replaces `body`.
};

/// Runs on the io thread of its connection.
using Handler = std::function<boost::asio::awaitable<HttpResponse>(HttpRequest)>;

}  // namespace postrider::api
