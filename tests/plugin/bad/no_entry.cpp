// A shared library, but no plugin.
#include <rewright/base/visibility.h>

extern "C" REWRIGHT_API int something_else() { return 42; }
