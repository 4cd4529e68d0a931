#include "main/notification_wiring.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "adapters/smtp/smtp_mailer.h"

namespace postrider {
namespace {

// Larger than any text that somebody wants to read.
constexpr std::size_t template_bytes_max = 1u << 20;

Result<std::string> read_text(const std::filesystem::path& path, std::size_t bytes_max) {
  std::ifstream file{path, std::ios::binary};
  std::string text(bytes_max + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) {
    return fail(Errc::invalid, fmt::format("Cannot read {}", path.string()));
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > bytes_max) {
    return fail(Errc::invalid, fmt::format("{} is too large", path.string()));
  }
  return text;
}

Result<Secret<std::string>> read_password(const std::string& path) {
  constexpr std::size_t password_bytes_max = 4'096;
  POSTRIDER_TRY(std::string text, read_text(path, password_bytes_max));
  while (text.ends_with('\n') || text.ends_with('\r')) {
    text.pop_back();
  }
  return Secret{std::move(text)};
}

SmtpSecurity security_of(config::SmtpSecurity security) {
  switch (security) {
    case config::SmtpSecurity::tls:
      return SmtpSecurity::tls;
    case config::SmtpSecurity::none:
      return SmtpSecurity::none;
    case config::SmtpSecurity::starttls:
      break;
  }
  return SmtpSecurity::starttls;
}

Result<std::map<std::string, std::string>> read_templates(const std::string& directory) {
  std::map<std::string, std::string> files;
  if (directory.empty()) {
    return files;
  }
  std::error_code error;
  if (!std::filesystem::is_directory(directory, error)) {
    return fail(Errc::invalid,
                fmt::format("notifications.templates: {} is not a directory.", directory));
  }
  for (std::size_t part = 0; part < message_part_count; ++part) {
    const std::string name{file_name_of(static_cast<MessagePart>(part))};
    const std::filesystem::path path = std::filesystem::path{directory} / name;
    if (std::filesystem::exists(path, error)) {
      POSTRIDER_TRY(files[name], read_text(path, template_bytes_max));
    }
  }
  return files;
}

}  // namespace

std::unique_ptr<Mailer> make_mailer(const config::SmtpConfig& config) {
  if (config.server.empty()) {
    return nullptr;
  }
  SmtpOptions options{.server = config.server,
                      .port = static_cast<std::uint16_t>(config.port),
                      .security = security_of(config.security),
                      .ca_file = config.ca_file,
                      .user = config.user,
                      .password = {},
                      .timeout = config.timeout};
  if (!config.password_file.empty()) {
    options.password = [path = config.password_file] { return read_password(path); };
  } else if (config.password) {
    options.password = [password = *config.password]() -> Result<Secret<std::string>> {
      return password;
    };
  }
  return make_smtp_mailer(std::move(options));
}

Result<NotificationOptions> notification_options(const config::Config& config) {
  POSTRIDER_TRY(const auto files, read_templates(config.notifications.templates));
  Result<MessageTexts> texts = MessageTexts::make(files);
  if (!texts) {
    return fail(Errc::invalid,
                fmt::format("{}/{}", config.notifications.templates, texts.error().message));
  }
  std::string public_url = config.public_url;
  while (public_url.ends_with('/')) {
    public_url.pop_back();
  }
  return NotificationOptions{.mail_from = config.smtp.from,
                             .public_url = std::move(public_url),
                             .texts = *std::move(texts),
                             .dead_letters_window = config.alerts.dead_letters_window};
}

}  // namespace postrider
