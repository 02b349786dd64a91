# What `cmake --install` puts in place: the program with its man pages and completion, the library, its headers, and what
# tells pkg-config and find_package how to link it.
install(TARGETS tare_static)
install(DIRECTORY include/tare DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET tare)
  install(TARGETS tare)
  # The program tells its own man pages and completion, so only where it can be run.
  if(NOT CMAKE_CROSSCOMPILING)
    set(share ${CMAKE_CURRENT_BINARY_DIR}/share)
    install(CODE "execute_process(COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/tools/manual $<TARGET_FILE:tare> ${share}
        COMMAND_ERROR_IS_FATAL ANY)")
    install(DIRECTORY ${share}/ DESTINATION ${CMAKE_INSTALL_DATAROOTDIR})
  endif()
endif()

# Both find the tree they lie in, wherever it was moved.
file(RELATIVE_PATH to_prefix /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
list(JOIN modules " " requires)
configure_file(cmake/tare.pc.in tare.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tare.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/tare)
configure_package_config_file(cmake/tare-config.cmake.in tare-config.cmake INSTALL_DESTINATION ${package}
    PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(tare-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tare-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/tare-config-version.cmake
    DESTINATION ${package})
