#pragma once

#include <gtest/gtest.h>

#include "tally/hashing/scheme_list.hpp"

namespace tally::test {

template <class List>
struct TypesOf;
template <class... Schemes>
struct TypesOf<SchemeList<Schemes...>> {
  using type = testing::Types<Schemes...>;
};

}  // namespace tally::test
