// Turns a callback into an awaitable.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace postrider {

/// Calls `begin(resume)`, suspends, and returns the argument of `resume`. `resume` is copyable and
/// must be called exactly once, after `begin` returned, on the thread of the coroutine. Pass a
/// named lambda as `begin`, never a temporary (GCC 12).
template <class Value, class Begin>
boost::asio::awaitable<Value> await_callback(Begin& begin) {
  auto initiate = [&begin](auto handler) {
    // std::function must be copyable; the handler is move-only.
    auto shared = std::make_shared<decltype(handler)>(std::move(handler));
    begin([shared](Value value) { (*shared)(std::move(value)); });
  };
  co_return co_await boost::asio::async_initiate<const boost::asio::use_awaitable_t<>, void(Value)>(
      initiate, boost::asio::use_awaitable);
}

}  // namespace postrider
