/* cp.async. A copy's bytes are moved when its thread waits for its group. */
#include "check.h"
#include "machine_internal.h"
#include "async.h"

#include <algorithm>
#include <vector>

namespace simt {

struct async_copy {
    char *to;
    const char *from;
    size_t bytes, zeros;
    unsigned group;
};
struct thread_copies {
    std::vector<struct async_copy> all;     /* oldest first */
    unsigned group;                         /* that is open; those before are committed */
};
static struct thread_copies copies[max_threads];
static bool any;                            /* in this block */

void forget_async()
{
    if (!any)
        return;
    for (auto &c : copies) {
        c.all.clear();
        c.group = 0;
    }
    any = false;
}

void async_copy(void *shared, const void *global, size_t bytes, size_t zeros)
{
    const void *site = __builtin_return_address(0);
    uintptr_t to = reinterpret_cast<uintptr_t>(shared);
    uintptr_t from = reinterpret_cast<uintptr_t>(global);
    struct thread_copies &mine = copies[self->number];

    if ((bytes != 4 && bytes != 8 && bytes != 16) || zeros > bytes)
        fail(cudaErrorLaunchFailure, site, "async copy of %zu bytes, %zu of them zeros: %s", bytes,
             zeros, name_of(self));
    if (to - shared_first >= shared_span)
        fail(cudaErrorIllegalAddress, site, "async copy to what is not shared memory: %s",
             name_of(self));
    if (to % bytes)
        fail_misaligned(WRITE, to, bytes, site);
    if (from % bytes)
        fail_misaligned(READ, from, bytes, site);
    if (zeros < bytes) {
        if (!in_device_memory(global))
            fail(cudaErrorIllegalAddress, site, "async copy from what is not device memory: %s",
                 name_of(self));
        check(READ, global, bytes - zeros, false, site, false);
    }
    check_async_begin(to, bytes, site);
    if (counting)
        count_async(to, from, bytes, zeros, site);
    mine.all.push_back({static_cast<char *>(shared), static_cast<const char *>(global), bytes,
                        zeros, mine.group});
    any = true;
}

void async_commit()
{
    copies[self->number].group++;
    any = true;
}

void async_wait(unsigned groups_left)
{
    struct thread_copies &mine = copies[self->number];

    if (groups_left >= mine.group)
        return;
    unsigned end = mine.group - groups_left;
    auto first_left = std::find_if(mine.all.begin(), mine.all.end(),
                                   [end](const struct async_copy &c) { return c.group >= end; });
    for (auto c = mine.all.begin(); c != first_left; ++c) {
        memcpy(c->to, c->from, c->bytes - c->zeros);
        memset(c->to + c->bytes - c->zeros, 0, c->zeros);
        check_async_end(reinterpret_cast<uintptr_t>(c->to), c->bytes);
    }
    mine.all.erase(mine.all.begin(), first_left);
}

}
