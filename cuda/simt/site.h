/* Source places of code addresses. */
#ifndef GPUFILT_SIMT_SITE_H
#define GPUFILT_SIMT_SITE_H

#include <cstddef>

namespace simt {

/* "sweep2d.cu:123" for the code that returns to `site`, by addr2line and the debug
 * information; without them the address in its file. */
void site_name(char *text, size_t bytes, const void *site);

}

#endif
