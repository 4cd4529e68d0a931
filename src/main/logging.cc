#include "main/logging.h"

#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>

#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include "main/json_log.h"

namespace postrider {
namespace {

/// Unlike spdlog's stderr sink it does not flush after every line.
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
    // A closed or full standard error must not stop deliveries. Such lines are lost.
    (void)std::fwrite(buffer_.data(), 1, buffer_.size(), stderr);
    (void)std::fflush(stderr);
    buffer_.clear();
  }

 private:
  static constexpr std::size_t buffer_bytes_max = 65'536;
  spdlog::memory_buf_t buffer_;
};

class JsonFormatter final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
    const auto at = std::chrono::duration_cast<Millis>(message.time.time_since_epoch());
    const spdlog::string_view_t level = spdlog::level::to_string_view(message.level);
    const std::string line =
        to_json_line({.at = wall_from_unix_ms(at.count()),
                      .level = {level.data(), level.size()},
                      .text = {message.payload.data(), message.payload.size()}});
    out.append(line.data(), line.data() + line.size());
    out.push_back('\n');
  }

  [[nodiscard]] std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<JsonFormatter>();
  }
};

void apply(spdlog::logger& logger, const config::Config& config) {
  logger.set_level(spdlog::level::from_str(config.log_level));
  if (config.log_format == config::LogFormat::json) {
    logger.set_formatter(std::make_unique<JsonFormatter>());
  } else {
    logger.set_pattern("%Y-%m-%dT%H:%M:%S.%eZ level=%l %v", spdlog::pattern_time_type::utc);
  }
}

}  // namespace

void set_up_logging(const config::Config& config) {
  auto logger = std::make_shared<spdlog::logger>("postrider", std::make_shared<BufferedStderr>());
  apply(*logger, config);
  logger->flush_on(spdlog::level::warn);
  spdlog::set_default_logger(std::move(logger));
  spdlog::flush_every(std::chrono::seconds{1});
}

void change_logging(const config::Config& config) { apply(*spdlog::default_logger(), config); }

void end_logging() {
  spdlog::default_logger()->flush();  // Sinks do not flush when they are destroyed.
  spdlog::shutdown();
}

}  // namespace postrider
