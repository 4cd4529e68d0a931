#include "core/stored/trace_bytes.h"

namespace postrider::stored {
namespace {

constexpr std::size_t trace_id_bytes = sizeof(TraceId::bytes);
constexpr std::size_t span_id_bytes = sizeof(SpanId::bytes);

void append(std::string& out, const auto& id) {
  out.append(reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size());
}

void read(std::string_view packed, auto& id) {
  packed.copy(reinterpret_cast<char*>(id.bytes.data()), id.bytes.size());
}

}  // namespace

std::string pack_trace(const std::optional<TraceContext>& trace) {
  std::string packed;
  if (trace) {
    append(packed, trace->trace_id);
    append(packed, trace->parent);
    packed += static_cast<char>(trace->flags);
  }
  return packed;
}

std::string pack_mark(const std::optional<TraceMark>& mark) {
  std::string packed;
  if (mark) {
    append(packed, mark->id);
    packed += mark->sampled ? '\1' : '\0';
  }
  return packed;
}

std::optional<TraceContext> unpack_trace(std::string_view packed, std::string_view state) {
  if (packed.size() != trace_id_bytes + span_id_bytes + 1) {
    return std::nullopt;
  }
  TraceContext trace;
  read(packed, trace.trace_id);
  read(packed.substr(trace_id_bytes), trace.parent);
  trace.flags = static_cast<std::uint8_t>(packed.back());
  trace.state = state;
  return trace;
}

std::optional<TraceMark> unpack_mark(std::string_view packed) {
  if (packed.size() != trace_id_bytes + 1) {
    return std::nullopt;
  }
  TraceMark mark;
  read(packed, mark.id);
  mark.sampled = packed.back() != '\0';
  return mark;
}

}  // namespace postrider::stored
