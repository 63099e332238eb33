// Without an include guard: for each instruction set that Highway compiles a file for, the file includes this anew, after
// <hwy/highway.h>. Processors without AVX2 are rare: one copy of what is done with a key is enough for them.
#undef TALLY_INLINE_FOR_KEY
#undef TALLY_INLINES_KEYS
#if HWY_ARCH_X86 && HWY_TARGET > HWY_AVX2
#define TALLY_INLINE_FOR_KEY HWY_NOINLINE
#define TALLY_INLINES_KEYS false
#else
#define TALLY_INLINE_FOR_KEY HWY_INLINE
#define TALLY_INLINES_KEYS true
#endif
