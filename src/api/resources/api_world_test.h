// The whole API on a server in memory, called without a socket.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/json/value.hpp>

#include "core/model/attempt.h"
#include "core/model/delivery.h"
#include "ports/metric_sample.h"

#include "api/http/http.h"
#include "api/resources/api_options.h"

namespace postrider::test {
class MemoryService;
}

namespace postrider::api {

struct Answer {
  int status = 0;
  std::string content_type;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  boost::json::value json;  // Null if the body is not JSON.

  [[nodiscard]] std::string header(std::string_view name) const;
  /// The text at a dotted path such as `errors.0.field`; `(none)` if there is none.
  [[nodiscard]] std::string at(std::string_view path) const;
};

class ApiWorld {
 public:
  /// Its schemas have the form `{"forbid": "text"}`: data that contains the text is invalid, at
  /// `here[0]`. Each `costly` in the data needs more than half of a request's budget.
  ApiWorld() : ApiWorld([](ApiOptions&) {}) {}
  explicit ApiWorld(const std::function<void(ApiOptions&)>& change);
  ~ApiWorld();

  using Pairs = std::vector<std::pair<std::string, std::string>>;

  /// Calls with the admin key unless `headers` has another key or a cookie. `target` is a path with
  /// an optional query that is not percent-encoded.
  Answer call(std::string method, std::string target, std::string body = {}, Pairs headers = {});
  /// Opens a session with a body for POST /v1/sessions. Returns its cookie and CSRF token as
  /// headers; none if it fails.
  Pairs sign_in(std::string credentials);
  /// The same from within another call, which waits for it.
  Answer call_within(std::string method, std::string target, std::string body, Pairs headers);

  /// Creates a webhook for `https://example.com/` and all events; `fields` are more JSON members.
  /// Returns its id.
  std::string make_webhook(std::string fields = {});
  /// Publishes and returns the event's id.
  std::string publish(std::string event);
  /// The id of the event's only delivery.
  std::string delivery_of(const std::string& event_id);
  void settle(const std::string& delivery_id, DeliveryState state, int http_status);

  [[nodiscard]] test::MemoryService& service() { return *service_; }
  [[nodiscard]] std::vector<MetricSample> request_samples() const;

 private:
  struct Routes;
  Answer run(HttpRequest request, boost::asio::io_context& io);

  std::unique_ptr<test::MemoryService> service_;
  std::unique_ptr<Routes> routes_;
};

}  // namespace postrider::api
