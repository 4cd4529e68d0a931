// Turns a callback into an awaitable.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace postrider {

/// Calls `begin(resume)`, suspends, and returns what `resume` is called with. `resume` is copyable
/// and must be called exactly once, later, on the thread of the coroutine. `begin` lives in the
/// caller's frame: a named lambda, never a temporary (GCC 12).
template <class Value, class Begin>
boost::asio::awaitable<Value> await_callback(Begin& begin) {
  auto initiate = [&begin](auto handler) {
    // std::function wants copies; the handler is move-only.
    auto shared = std::make_shared<decltype(handler)>(std::move(handler));
    begin([shared](Value value) { (*shared)(std::move(value)); });
  };
  co_return co_await boost::asio::async_initiate<const boost::asio::use_awaitable_t<>, void(Value)>(
      initiate, boost::asio::use_awaitable);
}

}  // namespace postrider
