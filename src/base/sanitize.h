/* Telling AddressSanitizer which bytes of a block may be touched; nothing without it. Inside base/ only. */
#ifndef TARE_BASE_SANITIZE_H
#define TARE_BASE_SANITIZE_H

#if defined(__SANITIZE_ADDRESS__)
#define TARE_HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TARE_HAS_ASAN 1
#endif
#endif
#ifndef TARE_HAS_ASAN
#define TARE_HAS_ASAN 0
#endif

#if TARE_HAS_ASAN
#include <sanitizer/asan_interface.h>
#define TARE_POISON(at, size)   __asan_poison_memory_region((at), (size))
#define TARE_UNPOISON(at, size) __asan_unpoison_memory_region((at), (size))
#else
#define TARE_POISON(at, size)   ((void)(at), (void)(size))
#define TARE_UNPOISON(at, size) ((void)(at), (void)(size))
#endif

#endif
