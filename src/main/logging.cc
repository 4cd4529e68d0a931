#include "main/logging.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <string>

#include <fmt/format.h>
#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include "core/base/assertion_reporter.h"

#include "adapters/system/system_clock.h"
#include "main/json_log.h"
#include "runtime/observability/attempt_log.h"

namespace postrider {
namespace {

constexpr std::size_t reason_length_max = 2'000;

void write_to_stderr(std::string_view text) {
  // A closed or full standard error must not stop deliveries. Such lines are lost.
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
  (void)std::fflush(stderr);
}

/// Unlike spdlog's stderr sink it does not flush after every line.
class BufferedStderr final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  /// For a process that is about to abort. Does nothing if a thread, perhaps this one, is logging.
  void flush_if_idle() {
    if (mutex_.try_lock()) {
      flush_();
      mutex_.unlock();
    }
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    formatter_->format(message, buffer_);
    if (buffer_.size() > buffer_bytes_max || is_due(message)) {
      flush_();
      flushed_at_ = message.time;
    }
  }

  void flush_() override {
    write_to_stderr({buffer_.data(), buffer_.size()});
    buffer_.clear();
  }

 private:
  /// A warning is written at once, but a thousand dead letters a second do not cost a thousand
  /// system calls. The clock may have been set back.
  [[nodiscard]] bool is_due(const spdlog::details::log_msg& message) const {
    return message.level >= spdlog::level::err ||
           (message.level == spdlog::level::warn &&
            (message.time < flushed_at_ || message.time - flushed_at_ >= warning_pause));
  }

  static constexpr std::size_t buffer_bytes_max = 65'536;
  static constexpr std::chrono::milliseconds warning_pause{50};
  spdlog::memory_buf_t buffer_;
  spdlog::log_clock::time_point flushed_at_;
};

class JsonFormatter final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
    const auto at = std::chrono::duration_cast<Millis>(message.time.time_since_epoch());
    const spdlog::string_view_t level = spdlog::level::to_string_view(message.level);
    line_.clear();
    append_json_line({.at = wall_from_unix_ms(at.count()),
                      .level = {level.data(), level.size()},
                      .text = {message.payload.data(), message.payload.size()}},
                     line_);
    line_ += '\n';
    out.append(line_.data(), line_.data() + line_.size());
  }

  [[nodiscard]] std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<JsonFormatter>();
  }

 private:
  std::string line_;  // Keeps its memory. A sink formats one line at a time.
};

const std::shared_ptr<BufferedStderr>& the_sink() {
  static const auto sink = std::make_shared<BufferedStderr>();
  return sink;
}

std::atomic<config::LogFormat> format_in_use = config::LogFormat::text;

void write_json_line(std::string_view level, std::string_view event, std::string_view reason) {
  const std::string text =
      fmt::format("{} reason=\"{}\"", event, log_safe(reason, reason_length_max));
  std::string line;
  append_json_line({.at = make_system_clock()->now().wall, .level = level, .text = text}, line);
  line += '\n';
  write_to_stderr(line);
}

/// Writes a line that cannot go through the logger. `event` is its name in JSON.
void report(std::string_view event, std::string_view reason) noexcept {
  try {
    if (format_in_use == config::LogFormat::json) {
      write_json_line("critical", event, reason);
    } else {
      write_to_stderr(fmt::format("{}\n", reason));
    }
  } catch (...) {  // There is no memory, perhaps.
    std::abort();
  }
}

/// The last words of the process. A failed assertion may hold the logger's locks.
void report_crash(std::string_view reason) noexcept {
  the_sink()->flush_if_idle();
  report("server.crashed", reason);
}

void report_assertion(const char* expression, const char* file, int line) noexcept {
  char text[512];
  (void)std::snprintf(text, sizeof text, "%s:%d: assertion failed: %s", file, line, expression);
  report_crash(text);
}

[[noreturn]] void report_termination() noexcept {
  std::string_view what = "std::terminate was called";
  const std::exception_ptr thrown = std::current_exception();
  try {
    if (thrown) {
      std::rethrow_exception(thrown);
    }
  } catch (const std::exception& exception) {
    what = exception.what();  // Valid as long as `thrown`.
  } catch (...) {
    what = "an exception that is not a std::exception";
  }
  report_crash(what);
  std::abort();
}

void apply(spdlog::logger& logger, const config::Config& config) {
  format_in_use = config.log_format;
  logger.set_level(spdlog::level::from_str(config.log_level));
  if (config.log_format == config::LogFormat::json) {
    logger.set_formatter(std::make_unique<JsonFormatter>());
  } else {
    logger.set_pattern("%Y-%m-%dT%H:%M:%S.%eZ level=%l %v", spdlog::pattern_time_type::utc);
  }
}

}  // namespace

void set_up_logging(const config::Config& config) {
  auto logger = std::make_shared<spdlog::logger>("postrider", the_sink());
  apply(*logger, config);
  logger->set_error_handler([](const std::string& message) { report("log.failed", message); });
  spdlog::set_default_logger(std::move(logger));
  spdlog::flush_every(std::chrono::seconds{1});
  set_assertion_reporter(report_assertion);
  std::set_terminate(report_termination);
}

void change_logging(const config::Config& config) { apply(*spdlog::default_logger(), config); }

void flush_log() { spdlog::default_logger()->flush(); }

void end_logging() {
  flush_log();  // Sinks do not flush when they are destroyed.
  spdlog::shutdown();
}

void report_start_failure(config::LogFormat format, std::string_view reason) {
  if (format == config::LogFormat::json) {
    write_json_line("error", "server.start_failed", reason);
  } else {
    write_to_stderr(fmt::format("postrider: {}\n", reason));
  }
}

}  // namespace postrider
