#include "tally/redis_client/connection.hpp"

#include <hiredis/hiredis.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

namespace tally::redis_client {
namespace {

// hiredis would allocate as many elements as the length of an array announces before they arrive.
redisReplyObjectFunctions bounded_functions;
decltype(redisReplyObjectFunctions::createArray) create_any_array;

void bound_arrays(redisReader& reader, ReplyLimits& limits) {
  create_any_array = reader.fn->createArray;
  bounded_functions = *reader.fn;
  bounded_functions.createArray = [](const redisReadTask* task, auto elements) -> void* {
    const auto& most = *static_cast<const ReplyLimits*>(task->privdata);
    const bool fits = elements >= 0 && static_cast<std::size_t>(elements) <= most.max_elements;
    return fits ? create_any_array(task, elements) : nullptr;
  };
  reader.fn = &bounded_functions;
  reader.privdata = &limits;
}

// The most that is read at once, before replies are extracted and their size is checked.
constexpr std::size_t most_bytes_a_step = std::size_t{1} << 20;

// The size of the texts of a reply.
std::size_t num_bytes_of(const redisReply& reply) {
  std::size_t num_bytes = reply.len;
  for (std::size_t i = 0; i < reply.elements; ++i) num_bytes += num_bytes_of(*reply.element[i]);
  return num_bytes;
}

// Even a machine that is gone accepts a little: what fits into the buffers of a socket.
constexpr std::size_t small_command_bytes = std::size_t{64} << 10;

}  // namespace

void FreeReply::operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }
void Connection::FreeContext::operator()(redisContext* context) const noexcept { redisFree(context); }

Connection::Connection(const Address& address, ReplyLimits limits, Nanoseconds now)
    : context_(address.host.empty() ? redisConnectUnixNonBlock(address.socket_path.c_str())
                                    : redisConnectNonBlock(address.host.c_str(), address.port)),
      limits_(std::make_unique<ReplyLimits>(limits)),
      heard_at_(now) {
  if (!context_) throw ConnectionError("not enough memory");
  check(context_->err == 0 ? REDIS_OK : REDIS_ERR);
  bound_arrays(*context_->reader, *limits_);
  if (address.password.empty()) return;
  std::vector<std::string_view> command{"AUTH"};
  if (!address.user.empty()) command.push_back(address.user);
  command.push_back(address.password);
  send(command);
}

Connection::~Connection() = default;

void Connection::check(int status) const {
  if (status == REDIS_OK) return;
  if (context_->err == REDIS_ERR_EOF) throw ConnectionError("the server closed the connection");
  if (context_->err == REDIS_ERR_IO) throw ConnectionError(std::strerror(errno));
  throw ConnectionError(context_->errstr);
}

void Connection::send(std::span<const std::string_view> arguments) {
  std::vector<const char*> texts;
  std::vector<std::size_t> sizes;
  for (const std::string_view argument : arguments) {
    texts.push_back(argument.data());
    sizes.push_back(argument.size());
  }
  check(redisAppendCommandArgv(context_.get(), static_cast<int>(texts.size()), texts.data(), sizes.data()));
}

std::size_t Connection::num_unsent_bytes() const noexcept { return sdslen(context_->obuf); }

pollfd Connection::polled() const noexcept {
  const bool writes = !connected_ || num_unsent_bytes() > 0;
  return {context_->fd, static_cast<short>(writes ? POLLIN | POLLOUT : POLLIN), 0};
}

Nanoseconds Connection::deadline() const noexcept {
  if (!connected_) return heard_at_ + connect_patience;
  return heard_at_ + (pinged_ ? ping_patience : silence_before_ping);
}

void Connection::step(short events, Nanoseconds now) {
  if (!connected_ && events != 0) finish_connecting();
  if (connected_) {
    if ((events & (POLLIN | POLLHUP | POLLERR)) != 0) read_in(now);
    if (num_unsent_bytes() > 0) write_out(now);
  }
  if (now < deadline()) return;
  if (!connected_) throw ConnectionError("no connection within 5 s");
  if (pinged_) throw ConnectionError("the server does not answer");
  constexpr std::array<std::string_view, 1> ping{"PING"};
  send(ping);
  pinged_ = true;
  ++num_pings_;
  heard_at_ = now;
}

void Connection::finish_connecting() {
  int error = 0;
  socklen_t size = sizeof error;
  if (getsockopt(context_->fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  if (error != 0) throw ConnectionError(std::strerror(error));
  connected_ = true;
  // A socket of the file system has neither. hiredis sets the second one only where it waits for the connection.
  redisEnableKeepAlive(context_.get());
  const int yes = 1;
  (void)setsockopt(context_->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  context_->err = 0;
}

// Accepted bytes are a sign of life: during a long message on a slow line there is no other.
void Connection::write_out(Nanoseconds now) {
  const std::size_t before = num_unsent_bytes();
  int done = 0;
  check(redisBufferWrite(context_.get(), &done));
  if (num_unsent_bytes() < before && before > small_command_bytes) heard_at_ = now;
}

void Connection::read_in(Nanoseconds now) {
  const redisReader& reader = *context_->reader;
  for (std::size_t num_read = 0; num_read < most_bytes_a_step;) {
    const std::size_t before = reader.len;
    check(redisBufferRead(context_.get()));
    if (reader.len == before) return;
    num_read += reader.len - before;
    heard_at_ = now;
    pinged_ = false;
  }
}

Reply Connection::next_reply() {
  void* taken = nullptr;
  check(redisGetReplyFromReader(context_.get(), &taken));
  Reply reply(static_cast<redisReply*>(taken));
  const std::size_t num_bytes = reply ? num_bytes_of(*reply) : context_->reader->len - context_->reader->pos;
  if (num_bytes > limits_->max_bytes) {
    throw ConnectionError("received a message of more than " + std::to_string(limits_->max_bytes) + " bytes");
  }
  return reply;
}

}  // namespace tally::redis_client
