# The components library (what programs need at run time), development (what they are built with), command and redis.
# find_package(tally) and pkg-config find what is installed here.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tally)
install(TARGETS tally tally_squid EXPORT tally-targets
  LIBRARY COMPONENT library NAMELINK_COMPONENT development ARCHIVE COMPONENT development)
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development FILES_MATCHING PATTERN "*.hpp")
if(TARGET tally_redis_client)
  install(TARGETS tally_redis_client EXPORT tally-targets ARCHIVE COMPONENT development)
  install(DIRECTORY engines/redis/client/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
    FILES_MATCHING PATTERN "*.hpp")
endif()
if(TARGET tally_redis)
  # A server refuses a module that is not executable.
  install(TARGETS tally_redis LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tally COMPONENT redis PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endif()
install(EXPORT tally-targets NAMESPACE tally:: DESTINATION ${package_dir} COMPONENT development)
configure_package_config_file(cmake/tally-config.cmake.in tally-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(tally-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tally-config.cmake ${PROJECT_BINARY_DIR}/tally-config-version.cmake
  DESTINATION ${package_dir} COMPONENT development)

# The .pc files say where their prefix is relative to themselves, so that it may be chosen when installing.
file(RELATIVE_PATH pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
if(NOT BUILD_SHARED_LIBS)
  set(static_libraries "${link_HIGHWAYHASH} ${link_HWY}")
  set(static_squid_libraries ${link_NETTLE})
endif()
foreach(name IN ITEMS tally tally-squid)
  configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endforeach()
