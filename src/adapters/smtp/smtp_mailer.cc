#include "adapters/smtp/smtp_mailer.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <string_view>
#include <utility>

#include <curl/curl.h>
#include <fmt/format.h>

#include "adapters/smtp/smtp_dialogue.h"

namespace postrider {
namespace {

using smtp::Dialogue;
using smtp::Reply;

struct EasyDeleter {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
using Easy = std::unique_ptr<CURL, EasyDeleter>;

struct ListDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using List = std::unique_ptr<curl_slist, ListDeleter>;

/// One mail on its way.
struct Session {
  Dialogue dialogue;
  std::string message;
  std::size_t uploaded = 0;
  const std::atomic<bool>* stopping = nullptr;
};

std::size_t read_message(char* to, std::size_t size, std::size_t count, void* data) {
  auto& session = *static_cast<Session*>(data);
  const std::size_t length = std::min(size * count, session.message.size() - session.uploaded);
  session.message.copy(to, length, session.uploaded);
  session.uploaded += length;
  return length;
}

// NOLINTNEXTLINE(readability-function-size): libcurl defines the parameters.
int follow(CURL*, curl_infotype type, char* bytes, std::size_t size, void* data) {
  auto& session = *static_cast<Session*>(data);
  if (type == CURLINFO_HEADER_IN) {
    session.dialogue.received({bytes, size});
  } else if (type == CURLINFO_HEADER_OUT) {
    session.dialogue.sent({bytes, size});
  }
  return 0;
}

// NOLINTNEXTLINE(readability-function-size): libcurl defines the parameters.
int is_stopping(void* data, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<Session*>(data)->stopping->load() ? 1 : 0;
}

/// An address that could end its command. Checked before, and again here.
bool is_harmful(std::string_view address) {
  return address.empty() ||
         address.find_first_of(std::string_view{"\r\n\0<>", 5}) != std::string_view::npos;
}

class SmtpMailer final : public Mailer {
 public:
  explicit SmtpMailer(SmtpOptions options) : options_(std::move(options)) {
    static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
    (void)initialised;
  }

  MailOutcome send(const Mail& mail) override;
  void stop() override { stopping_ = true; }

 private:
  [[nodiscard]] std::string name() const {
    return fmt::format("The SMTP server {}:{}", options_.server, options_.port);
  }
  void set_connection(CURL* handle) const;
  [[nodiscard]] Result<void> set_login(CURL* handle) const;
  [[nodiscard]] MailOutcome judge(CURLcode code, const char* reason,
                                  const Dialogue& dialogue) const;

  SmtpOptions options_;
  std::atomic<bool> stopping_{false};
};

void SmtpMailer::set_connection(CURL* handle) const {
  const bool tls = options_.security == SmtpSecurity::tls;
  const bool is_ipv6 = options_.server.find(':') != std::string::npos;
  const std::string host = is_ipv6 ? fmt::format("[{}]", options_.server) : options_.server;
  const std::string url = fmt::format("{}://{}:{}", tls ? "smtps" : "smtp", host, options_.port);
  curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
  curl_easy_setopt(handle, CURLOPT_PROXY, "");  // Not that of the environment.
  const bool plain = options_.security == SmtpSecurity::none;
  curl_easy_setopt(handle, CURLOPT_USE_SSL,
                   static_cast<long>(plain ? CURLUSESSL_NONE : CURLUSESSL_ALL));
  curl_easy_setopt(handle, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (!options_.ca_file.empty()) {
    curl_easy_setopt(handle, CURLOPT_CAINFO, options_.ca_file.c_str());
    curl_easy_setopt(handle, CURLOPT_CAPATH, nullptr);
  }
  curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(options_.timeout.count()));
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options_.timeout.count()));
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
}

Result<void> SmtpMailer::set_login(CURL* handle) const {
  if (options_.user.empty()) {
    return {};
  }
  curl_easy_setopt(handle, CURLOPT_USERNAME, options_.user.c_str());
  if (options_.password) {
    POSTRIDER_TRY(const Secret<std::string> password, options_.password());
    curl_easy_setopt(handle, CURLOPT_PASSWORD, password.reveal().c_str());  // Copied.
  }
  return {};
}

MailOutcome SmtpMailer::send(const Mail& mail) {
  const std::string from{mailbox_address(mail.from)};
  if (is_harmful(from) || is_harmful(mail.to)) {
    return {MailVerdict::refused, "The mail has no valid sender or recipient"};
  }
  const Easy easy{curl_easy_init()};
  const List recipients{curl_slist_append(nullptr, fmt::format("<{}>", mail.to).c_str())};
  if (!easy || !recipients) {
    return {MailVerdict::unreachable, "There is not enough memory to send a mail"};
  }
  Session session{
      .dialogue = {}, .message = render_mail(mail), .uploaded = 0, .stopping = &stopping_};
  std::array<char, CURL_ERROR_SIZE> reason{};
  CURL* handle = easy.get();
  set_connection(handle);
  if (const Result<void> logged_in = set_login(handle); !logged_in) {
    return {MailVerdict::unreachable, logged_in.error().message};
  }
  curl_easy_setopt(handle, CURLOPT_MAIL_FROM, fmt::format("<{}>", from).c_str());
  curl_easy_setopt(handle, CURLOPT_MAIL_RCPT, recipients.get());
  curl_easy_setopt(handle, CURLOPT_UPLOAD, 1L);
  curl_easy_setopt(handle, CURLOPT_READFUNCTION, read_message);
  curl_easy_setopt(handle, CURLOPT_READDATA, &session);
  curl_easy_setopt(handle, CURLOPT_VERBOSE, 1L);  // For `follow`; nothing is printed.
  curl_easy_setopt(handle, CURLOPT_DEBUGFUNCTION, follow);
  curl_easy_setopt(handle, CURLOPT_DEBUGDATA, &session);
  curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, is_stopping);
  curl_easy_setopt(handle, CURLOPT_XFERINFODATA, &session);
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, reason.data());
  const CURLcode code = curl_easy_perform(handle);
  return judge(code, reason[0] != '\0' ? reason.data() : curl_easy_strerror(code),
               session.dialogue);
}

MailOutcome SmtpMailer::judge(CURLcode code, const char* reason, const Dialogue& dialogue) const {
  if (code == CURLE_OK) {
    return {};
  }
  const std::optional<Reply> refusal = dialogue.refusal();
  if (!refusal) {
    return {MailVerdict::unreachable, fmt::format("{} cannot be used: {}", name(), reason)};
  }
  if (!dialogue.is_about_mail()) {
    return {MailVerdict::unreachable,
            fmt::format("{} refused the session: {}", name(), refusal->text), refusal->code};
  }
  return {refusal->code >= 500 ? MailVerdict::refused : MailVerdict::postponed,
          fmt::format("{} refused the mail: {}", name(), refusal->text), refusal->code};
}

}  // namespace

std::unique_ptr<Mailer> make_smtp_mailer(SmtpOptions options) {
  return std::make_unique<SmtpMailer>(std::move(options));
}

}  // namespace postrider
