# rewright_add_plugin(TARGET KIND kind [NAME name] SOURCES file... [LIBRARIES target...])
#
# One shared object that the program finds at run time. KIND is the folder of its kind: operators, verifiers,
# pruners, searches, costs, runtimes or targets. The file is KIND/NAME.so below REWRIGHT_PLUGIN_OUTPUT_DIR (by default
# the folder "rewright" of the build; name it in REWRIGHT_PLUGIN_PATH to try the plugin), and is installed
# beside Rewright's own when the prefix is the same. NAME defaults to TARGET.
function(rewright_add_plugin target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "KIND;NAME" "SOURCES;LIBRARIES")
  if(NOT arg_KIND OR NOT arg_SOURCES)
    message(FATAL_ERROR "rewright_add_plugin(${target}): KIND and SOURCES are needed")
  endif()
  if(NOT arg_NAME)
    set(arg_NAME ${target})
  endif()
  if(NOT REWRIGHT_PLUGIN_OUTPUT_DIR)
    set(REWRIGHT_PLUGIN_OUTPUT_DIR ${CMAKE_CURRENT_BINARY_DIR}/rewright)
  endif()
  if(NOT REWRIGHT_PLUGIN_INSTALL_DIR)
    set(REWRIGHT_PLUGIN_INSTALL_DIR lib/rewright)
  endif()

  add_library(${target} MODULE ${arg_SOURCES})
  set_target_properties(${target} PROPERTIES
    PREFIX "" OUTPUT_NAME ${arg_NAME} DEFINE_SYMBOL ""
    LIBRARY_OUTPUT_DIRECTORY ${REWRIGHT_PLUGIN_OUTPUT_DIR}/${arg_KIND}
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    INSTALL_RPATH "$ORIGIN/..;$ORIGIN/../..")  # lib/rewright, for libraries that plugins open; lib, for librewright
  target_link_libraries(${target} PRIVATE Rewright::rewright ${arg_LIBRARIES})
  if(TARGET rewright_warnings)
    target_link_libraries(${target} PRIVATE rewright_warnings)
  endif()
  if(REWRIGHT_PRECOMPILED)  # The first plugin precompiles for all.
    get_property(first GLOBAL PROPERTY REWRIGHT_FIRST_PLUGIN)
    if(first)
      target_precompile_headers(${target} REUSE_FROM ${first})
    else()
      target_precompile_headers(${target} PRIVATE ${REWRIGHT_PRECOMPILED} <rewright/kit/families.h>)
      set_property(GLOBAL PROPERTY REWRIGHT_FIRST_PLUGIN ${target})
    endif()
  endif()
  set_property(GLOBAL APPEND PROPERTY REWRIGHT_PLUGIN_FILES ${REWRIGHT_PLUGIN_OUTPUT_DIR}/${arg_KIND}/${arg_NAME}.so)
  if(TARGET workbench)
    add_dependencies(workbench ${target})
  endif()
  install(TARGETS ${target} LIBRARY DESTINATION ${REWRIGHT_PLUGIN_INSTALL_DIR}/${arg_KIND})
endfunction()
