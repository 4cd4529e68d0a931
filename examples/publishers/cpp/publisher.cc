// Publishes each line of standard input, which must be JSON, as the data of an event. C++17.
//
//   POSTRIDER_SERVER=https://... POSTRIDER_KEY=pk_... ./publisher order.paid [tenant] < lines
//
// Prints every event that was not stored, and the totals. The exit code is 1 if there is any.
#include <chrono>
#include <cstdlib>
#include <deque>
#include <future>
#include <iostream>
#include <string>

#include <postrider/client.h>

using namespace std::chrono_literals;

namespace {

std::string variable(const char* name, const char* fallback) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : fallback;
}

/// Counts results and reports failures.
struct Report {
  std::size_t stored = 0;
  std::size_t failed = 0;

  void add(const postrider::PublishResult& result) {
    if (result.status == postrider::PublishStatus::stored) {
      ++stored;
      return;
    }
    ++failed;
    std::cout << "failed: " << result.idempotency_key << " " << result.http_status << " "
              << result.code << ": " << result.message << std::endl;
  }
};

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::cerr << "usage: publisher TYPE [TENANT] < lines" << std::endl;
    return 2;
  }
  postrider::ClientOptions options;
  options.url = variable("POSTRIDER_SERVER", "http://127.0.0.1:8080");
  options.api_key = variable("POSTRIDER_KEY", "");
  options.ca_file = variable("POSTRIDER_CA", "");
  const auto [client, problem] = postrider::Client::open(options);
  if (!client) {
    std::cerr << problem << std::endl;
    return 2;
  }

  Report report;
  std::deque<std::future<postrider::PublishResult>> results;
  postrider::NewEvent event;
  event.type = arguments[1];
  event.tenant_id = count > 2 ? arguments[2] : "";
  while (std::getline(std::cin, event.data)) {
    // Waits while the queue is full, so that reading is never faster than publishing.
    results.push_back(client->publish(event, 1h));
    while (results.front().wait_for(0s) == std::future_status::ready) {
      report.add(results.front().get());
      results.pop_front();
      if (results.empty()) {
        break;
      }
    }
  }
  client->close(10min);
  for (auto& result : results) {
    report.add(result.get());
  }
  const postrider::ClientState state = client->state();
  std::cout << "stored " << report.stored << ", failed " << report.failed << ", requests "
            << state.requests << ", repeated " << state.failures << std::endl;
  return report.failed == 0 ? 0 : 1;
}
