#pragma once

#include <cstddef>

#include "call.hpp"
#include "open_key.hpp"

namespace tally::redis {

/// The chain to look up, or nullptr where every answer is 0: no key, or one of another type.
template <class Chain>
const Chain* chain_to_look_up(const OpenKey& key) {
  return key.has<Chain>() ? &key.get<Chain>("ERR not found") : nullptr;
}

/// EXISTS key item.
template <class Chain>
void exists(Call& call) {
  const OpenKey key(call, KeyAccess::read);
  const Chain* chain = chain_to_look_up<Chain>(key);
  call.boolean(chain != nullptr && chain->may_contain(call.text(2)));
}

/// MEXISTS key item...
template <class Chain>
void exist_several(Call& call) {
  const OpenKey key(call, KeyAccess::read);
  const Chain* chain = chain_to_look_up<Chain>(key);
  call.array(call.size() - 2);
  for (std::size_t i = 2; i < call.size(); ++i) {
    call.boolean(chain != nullptr && chain->may_contain(call.text(i)));
  }
}

}  // namespace tally::redis
