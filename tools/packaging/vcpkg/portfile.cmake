# SPDX-License-Identifier: Apache-2.0
# An overlay port: vcpkg install sluice --overlay-ports=tools/packaging/vcpkg, from a checkout. A registry replaces the next
# line with vcpkg_from_github(OUT_SOURCE_PATH SOURCE_PATH REPO … REF "v${VERSION}" SHA512 …).
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

set(OPTIONS -Dtests=false -Dexamples=false -Dprogram=false -Dbench=disabled -Dline_tables=false
    -Dgrpc=disabled
    -Dhttp=disabled)  # it needs the C sources of llhttp, which its port does not give
foreach(feature IN ITEMS asio sqlite images)
  if(feature IN_LIST FEATURES)
    list(APPEND OPTIONS -D${feature}=enabled)
  else()
    list(APPEND OPTIONS -D${feature}=disabled)
  endif()
endforeach()

foreach(codec IN ITEMS zstd lz4 snappy bzip2 xz)
  if("codecs" IN_LIST FEATURES)
    list(APPEND OPTIONS -D${codec}=enabled)
  else()
    list(APPEND OPTIONS -D${codec}=disabled)
  endif()
endforeach()

vcpkg_configure_meson(SOURCE_PATH "${SOURCE_PATH}" OPTIONS ${OPTIONS})
vcpkg_install_meson()
vcpkg_fixup_pkgconfig()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/sluice)
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
