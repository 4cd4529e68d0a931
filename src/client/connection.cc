#include "client/connection.h"

#include <utility>

#include "client/http_message.h"
#include "client/machine.h"

namespace postrider::client {

Result<HttpAnswer> Connection::exchange(std::string_view request, Millis timeout) {
  const MonoTime deadline = mono_now() + timeout;
  if (stream_) {
    Attempt kept = attempt(request, deadline);
    if (kept.answer || kept.answer_started || mono_now() >= deadline) {
      return std::move(kept.answer);
    }
  }
  POSTRIDER_TRY(stream_, Stream::connect(server_, tls_, interrupter_, deadline));
  return attempt(request, deadline).answer;
}

Connection::Attempt Connection::attempt(std::string_view request, MonoTime deadline) {
  std::unique_ptr<Stream> stream = std::exchange(stream_, nullptr);
  ResponseParser parser;
  // A server may answer before it has read everything, and close.
  const Result<void> written = stream->write(request, deadline);
  auto progress = ResponseParser::Progress::more;
  while (progress == ResponseParser::Progress::more) {
    const Result<std::string_view> bytes = stream->read(deadline);
    if (!bytes) {
      return {tl::make_unexpected(written ? bytes.error() : written.error()), parser.started()};
    }
    progress = bytes->empty() ? parser.end() : parser.feed(*bytes);
  }
  if (progress == ResponseParser::Progress::failed) {
    return {fail(Errc::unavailable, parser.started()
                                        ? "The answer of the server is incomplete or not HTTP."
                                        : "The server closed the connection without an answer."),
            parser.started()};
  }
  if (parser.reusable()) {
    stream_ = std::move(stream);
  }
  return {parser.take_answer(), true};
}

}  // namespace postrider::client
