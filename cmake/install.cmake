# The components library (what programs need at run time), development (what they are built with), command, redis, and with
# TALLY_PYTHON_DIRECTORY (relative to the prefix) python.
# find_package(tally) and pkg-config find what is installed here.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tally)
set(libraries tally tally_squid)
if(TALLY_BOTH_LIBRARIES)
  list(APPEND libraries tally${other} tally_squid${other})
endif()
install(TARGETS ${libraries} EXPORT tally-targets
  LIBRARY COMPONENT library NAMELINK_COMPONENT development ARCHIVE COMPONENT development)
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development FILES_MATCHING PATTERN "*.hpp")
if(TARGET tally_redis_client)
  install(TARGETS tally_redis_client EXPORT tally-targets ARCHIVE COMPONENT development)
  install(DIRECTORY engines/redis/client/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
    FILES_MATCHING PATTERN "*.hpp")
endif()
if(TARGET tally_redis)
  # A server refuses a module that is not executable.
  set(TALLY_REDIS_DIRECTORY ${CMAKE_INSTALL_LIBDIR}/tally CACHE STRING "Where the module for Redis is installed")
  install(TARGETS tally_redis LIBRARY DESTINATION ${TALLY_REDIS_DIRECTORY} COMPONENT redis PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endif()
if(TALLY_PYTHON AND TALLY_PYTHON_DIRECTORY)
  install(TARGETS tally_python LIBRARY DESTINATION ${TALLY_PYTHON_DIRECTORY}/tally COMPONENT python)
  install(FILES ${TALLY_PYTHON_FILES} DESTINATION ${TALLY_PYTHON_DIRECTORY}/tally COMPONENT python)
  configure_file(cmake/python_metadata.in METADATA @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/METADATA COMPONENT python
    DESTINATION ${TALLY_PYTHON_DIRECTORY}/tally-${PROJECT_VERSION}.dist-info)
endif()
install(EXPORT tally-targets NAMESPACE tally:: DESTINATION ${package_dir} COMPONENT development)
configure_package_config_file(cmake/tally-config.cmake.in tally-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(tally-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tally-config.cmake ${PROJECT_BINARY_DIR}/tally-config-version.cmake
  DESTINATION ${package_dir} COMPONENT development)

# The .pc files say where their prefix is relative to themselves, so that it may be chosen when installing.
file(RELATIVE_PATH pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
# What the library itself links, programs link too if it is static: always, or with `pkg-config --static` if both are there.
set(own_libraries "${link_HIGHWAYHASH} ${link_HWY}")
set(own_squid_libraries ${link_NETTLE})
if(NOT BUILD_SHARED_LIBS)
  set(static_libraries ${own_libraries})
  set(static_squid_libraries ${own_squid_libraries})
endif()
foreach(name IN ITEMS tally tally-squid)
  configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endforeach()
