#pragma once

/// What the shared library offers. It hides everything that has no such mark (`-fvisibility=hidden`).
#define TALLY_EXPORT __attribute__((visibility("default")))
