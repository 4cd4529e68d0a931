// A webhook receiver in C++17. Verifies each request before using its content.
//
//   SECRET=whsec_... PORT=9000 ./receiver
//
// One thread per connection keeps the example short; Postrider opens only a few connections. A real
// receiver would put the event into a queue and then respond.
#include <cstdlib>
#include <functional>
#include <iostream>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <postrider/verify.h>

namespace asio = boost::asio;
namespace http = boost::beast::http;
namespace verify = postrider::verify;
using asio::ip::tcp;
using Request = http::request<http::string_body>;

namespace {

/// Delivery is at least once: a known id is a repeat. A real receiver stores the ids in a database.
std::mutex seen_lock;
std::set<std::string> seen;

http::status answer(const verify::Verifier& verifier, const Request& request) {
  const verify::Lookup header = [&](std::string_view name) -> std::optional<std::string> {
    const auto found = request.find(boost::beast::string_view(name.data(), name.size()));
    if (found == request.end()) {
      return std::nullopt;
    }
    return std::string(found->value());
  };
  const verify::Outcome outcome = verifier.check(header, request.body());
  const std::lock_guard<std::mutex> lock(seen_lock);
  if (outcome != verify::Outcome::valid) {
    std::cout << "refused: " << verify::explain(outcome) << std::endl;
    return http::status::unauthorized;
  }
  const bool is_new = seen.insert(*header("webhook-id")).second;
  std::cout << (is_new ? "event: " : "repeat: ") << request.body() << std::endl;
  return http::status::no_content;
}

void serve(const verify::Verifier& verifier, tcp::socket socket) {
  boost::beast::flat_buffer buffer;
  boost::beast::error_code error;
  for (bool keep = true; keep;) {
    Request request;
    http::read(socket, buffer, request, error);
    if (error) {
      return;
    }
    http::response<http::empty_body> response(answer(verifier, request), request.version());
    response.keep_alive(request.keep_alive());
    response.prepare_payload();
    http::write(socket, response, error);
    keep = !error && response.keep_alive();
  }
}

}  // namespace

int main() {
  const char* secret = std::getenv("SECRET");
  const char* port = std::getenv("PORT");
  if (secret == nullptr) {
    std::cerr << "Set SECRET to the webhook's secret (whsec_...)." << std::endl;
    return 2;
  }
  verify::Options options;
  options.keys = {secret};
  const verify::Verifier verifier(options);

  asio::io_context io;
  const auto number = static_cast<unsigned short>(port != nullptr ? std::atoi(port) : 9000);
  tcp::acceptor acceptor(io, tcp::endpoint(asio::ip::address_v4::loopback(), number));
  std::cout << "listening on 127.0.0.1:" << acceptor.local_endpoint().port() << std::endl;
  for (;;) {
    std::thread(serve, std::cref(verifier), acceptor.accept()).detach();
  }
}
