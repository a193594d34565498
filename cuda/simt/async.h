/* Copies of cp.async that are under way. */
#ifndef GPUFILT_SIMT_ASYNC_H
#define GPUFILT_SIMT_ASYNC_H

namespace simt {

/* A new block: no thread has any. */
void forget_async();

}

#endif
