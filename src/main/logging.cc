#include "main/logging.h"

#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>

#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

namespace postrider {
namespace {

/// spdlog's own stderr sink flushes after every line.
class BufferedStderr final : public spdlog::sinks::base_sink<std::mutex> {
 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    buffer_.append(line.data(), line.data() + line.size());
    if (buffer_.size() > buffer_bytes_max) {
      flush_();
    }
  }

  void flush_() override {
    // A closed or full standard error must not stop deliveries: what cannot be written is lost.
    (void)std::fwrite(buffer_.data(), 1, buffer_.size(), stderr);
    (void)std::fflush(stderr);
    buffer_.clear();
  }

 private:
  static constexpr std::size_t buffer_bytes_max = 64 * 1024;
  spdlog::memory_buf_t buffer_;
};

}  // namespace

void set_up_logging(const std::string& level) {
  auto logger = std::make_shared<spdlog::logger>("postrider", std::make_shared<BufferedStderr>());
  logger->set_level(spdlog::level::from_str(level));
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ level=%l %v", spdlog::pattern_time_type::utc);
  logger->flush_on(spdlog::level::warn);
  spdlog::set_default_logger(std::move(logger));
  spdlog::flush_every(std::chrono::seconds{1});
}

void change_log_level(const std::string& level) {
  spdlog::default_logger()->set_level(spdlog::level::from_str(level));
}

}  // namespace postrider
