# scripts/package: one Debian package of all that is installed. What it links is found by dpkg-shlibdeps.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME rewright)
set(CPACK_PACKAGE_VENDOR "The Rewright project")
set(CPACK_PACKAGE_CONTACT "The Rewright project <rewright@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
  "It finds graph substitutions by enumeration, proves them from axioms, and makes ONNX models cheaper with them. Operators, verifiers, pruners, searches and cost models are plugins.")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# For the librewright that the program and the plugins link, which no package provides but this one.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)
# Programs that plugins start; what `find_package(Rewright)` and `import rewright` want.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "graphviz, cvc5, python3")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cmake, g++, ninja-build, libfmt-dev, z3")
include(CPack)
