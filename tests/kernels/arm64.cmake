# The NEON kernels on a machine that is none: built by the cross compiler, run in qemu. SLEEF and cmocka of that
# architecture are not asked for.
find_program(ARM64_COMPILER aarch64-linux-gnu-gcc)
find_program(ARM64_EMULATOR NAMES qemu-aarch64-static qemu-aarch64)
if(NOT ARM64_COMPILER OR NOT ARM64_EMULATOR)
  message(WARNING "no aarch64-linux-gnu-gcc or qemu-aarch64-static: the NEON kernels are not tested; run tools/setup")
  return()
endif()
file(GLOB arm64_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/kernels/*.c ${CMAKE_SOURCE_DIR}/src/kernels/scalar/*.c
    ${CMAKE_SOURCE_DIR}/src/kernels/arm/*.c)
list(FILTER arm64_sources EXCLUDE REGEX "/sleef_")
file(GLOB arm64_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/kernels/*.h ${CMAKE_SOURCE_DIR}/src/kernels/*.def
    ${CMAKE_SOURCE_DIR}/src/kernels/arm/*.h)
set(arm64_test ${CMAKE_CURRENT_BINARY_DIR}/test_kernels_arm64)
add_custom_command(OUTPUT ${arm64_test}
    COMMAND ${ARM64_COMPILER} -std=c11 -O2 -static -pthread -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wvla
        -Wstrict-prototypes -Wmissing-prototypes -Wcast-qual -Wwrite-strings -Werror -ffp-contract=off
        -D_DEFAULT_SOURCE -D_XOPEN_SOURCE=700 -DTARE_NO_SLEEF -I${CMAKE_SOURCE_DIR}/src -I${CMAKE_SOURCE_DIR}/tests
        -I${CMAKE_SOURCE_DIR}/include -o ${arm64_test}
        ${CMAKE_SOURCE_DIR}/tests/kernels/every_kernel_plain.c ${arm64_sources} -lm
    DEPENDS ${CMAKE_SOURCE_DIR}/tests/kernels/every_kernel_plain.c ${CMAKE_SOURCE_DIR}/tests/kernels/every_kernel.h
        ${arm64_sources} ${arm64_headers}
    COMMENT "Building the NEON kernels' test")
add_custom_target(kernels_arm64_program ALL DEPENDS ${arm64_test})
add_test(NAME kernels_arm64 COMMAND ${ARM64_EMULATOR} ${arm64_test})
set_tests_properties(kernels_arm64 PROPERTIES TIMEOUT 600 LABELS kernels)
