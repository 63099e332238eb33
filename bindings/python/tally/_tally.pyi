# The module of C++, as types. Sections in the order of bindings/python/src/module.cpp.
