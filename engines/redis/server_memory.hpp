#pragma once

namespace tally::redis {

/// From now on, the words of all structures come from the server, and so `maxmemory`, `INFO memory` and the server's
/// statistics see them. The operators new and delete of the module do the same, from the moment when the functions of the
/// server are known. Where the server has no memory, std::bad_alloc is thrown.
void use_server_memory();

}  // namespace tally::redis
