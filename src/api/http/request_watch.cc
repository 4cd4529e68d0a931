#include "api/http/request_watch.h"

namespace postrider::api {
namespace {

MonoTime now_of(const HttpServerOptions& options) {
  return options.now ? options.now().mono : MonoTime{};
}

/// Keeps the memory of the strings.
void clear(RequestNote& note) {
  note.route = {};
  note.is_routine = false;
  note.key_id.reset();
  note.tenant_id.clear();
  note.event_id.reset();
  note.trace_id.reset();
}

}  // namespace

RequestNote* RequestWatch::note(const HttpServerOptions& options) {
  return options.observer && options.observer->is_active() ? &note_ : nullptr;
}

void RequestWatch::begin(const HttpServerOptions& options, const HttpRequest& request) {
  is_active_ = note(options) != nullptr;
  if (!is_active_) {
    return;
  }
  begun_at_ = now_of(options);
  method_ = request.method;
  remote_ip_ = request.remote_ip;
  request_bytes_ = request.body.size();
  response_bytes_ = 0;
}

void RequestWatch::answered(const HttpResponse& response, bool has_body) {
  status_ = response.status;
  response_bytes_ = has_body ? response.body.size() : 0;
}

void RequestWatch::end(const HttpServerOptions& options, const End& how) {
  if (is_active_ && options.observer) {
    options.observer->request_done({.request_id = how.request_id,
                                    .method = method_,
                                    .remote_ip = remote_ip_,
                                    .note = note_,
                                    .status = status_,
                                    .duration = now_of(options) - begun_at_,
                                    .request_bytes = request_bytes_,
                                    .response_bytes = response_bytes_,
                                    .is_cut = !how.is_whole});
  }
  is_active_ = false;
  clear(note_);
}

}  // namespace postrider::api
