/* How many processors this process may use. */
#ifndef GPUFILT_SRC_PROCESSORS_H
#define GPUFILT_SRC_PROCESSORS_H

/* At least 1. What taskset, a container or a batch system leaves to us, which may be less
 * than the machine has. */
unsigned gf_processors(void);

#endif
