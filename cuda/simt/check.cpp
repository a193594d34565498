#include "check.h"
#include "machine_internal.h"
#include "site.h"

#include <cstdlib>
#include <link.h>

extern "C" char __start_simt_constant[] __attribute__((weak));
extern "C" char __stop_simt_constant[] __attribute__((weak));

namespace simt {

/* ---- device memory ---- */

/* An address in the device's range that is in no allocation, told by the nearest one. */
[[noreturn]] static void fail_outside(enum access a, uintptr_t address, size_t bytes,
                                      const void *site)
{
    const struct allocation *before = allocation_before(address);
    const struct allocation *after = allocation_after(address);
    uintptr_t end = before ? before->first + before->bytes : 0;

    if (before && address < end)
        fail(cudaErrorIllegalAddress, site,
             "%s of %zu bytes crosses the end of an allocation of %zu bytes: %s",
             access_names[a], bytes, before->bytes, name_of(self));
    if (before && (!after || address - end <= after->first - address))
        fail(cudaErrorIllegalAddress, site,
             "%s of %zu bytes outside device memory, %zu bytes after the end of an allocation "
             "of %zu bytes: %s",
             access_names[a], bytes, static_cast<size_t>(address - end), before->bytes,
             name_of(self));
    if (after)
        fail(cudaErrorIllegalAddress, site,
             "%s of %zu bytes outside device memory, %zu bytes before an allocation of %zu "
             "bytes: %s",
             access_names[a], bytes, static_cast<size_t>(after->first - address), after->bytes,
             name_of(self));
    fail(cudaErrorIllegalAddress, site, "%s of %zu bytes outside device memory: %s",
         access_names[a], bytes, name_of(self));
}

void check_device(enum access a, uintptr_t address, size_t bytes, const void *site)
{
    const struct allocation *in = allocation_at(address);

    if (!in || in->bytes - (address - in->first) < bytes)
        fail_outside(a, address, bytes, site);
    if (a == WRITE) {
        mark_written(reinterpret_cast<void *>(address), bytes);
        return;
    }
    const void *unwritten = first_unwritten(reinterpret_cast<void *>(address), bytes);
    fail(cudaErrorLaunchFailure, site,
         "%s of %zu bytes of device memory, of which nothing wrote byte %zu (allocation of %zu "
         "bytes): %s",
         access_names[a], bytes,
         static_cast<size_t>(reinterpret_cast<uintptr_t>(unwritten) - in->first), in->bytes,
         name_of(self));
}

void fail_misaligned(enum access a, uintptr_t address, size_t bytes, const void *site)
{
    fail(cudaErrorMisalignedAddress, site,
         "%s of %zu bytes at an address that is %zu more than a multiple of that: %s",
         access_names[a], bytes, static_cast<size_t>(address % bytes), name_of(self));
}

void host_touches_device(const void *site)
{
    char place[300];

    site_name(place, sizeof place, site);
    report("%s: the host touches device memory", place);
    abort();
}

void check_and_count(enum access a, const volatile void *p, size_t bytes, bool aligned,
                     const void *site)
{
    check(a, p, bytes, aligned, site, false);
    count_access(a, reinterpret_cast<uintptr_t>(p), bytes, site);
}

/* ---- constants ---- */

/* Ranges of the program that cannot be written: its code and constants. */
static struct {
    uintptr_t first;
    size_t bytes;
} constants[256];
static unsigned constant_count;

static int add_constants(struct dl_phdr_info *info, size_t, void *)
{
    for (int i = 0; i < info->dlpi_phnum && constant_count < 256; i++) {
        const ElfW(Phdr) &h = info->dlpi_phdr[i];
        if (h.p_type == PT_GNU_RELRO || (h.p_type == PT_LOAD && !(h.p_flags & PF_W)))
            constants[constant_count++] = {info->dlpi_addr + h.p_vaddr, h.p_memsz};
    }
    return 0;
}

static bool is_constant(uintptr_t address, size_t bytes)
{
    if (!constant_count)
        dl_iterate_phdr(add_constants, nullptr);
    for (unsigned i = 0; i < constant_count; i++)
        if (address - constants[i].first < constants[i].bytes &&
            constants[i].bytes - (address - constants[i].first) >= bytes)
            return true;
    return false;
}

static bool is_symbol(uintptr_t address)
{
    return address - reinterpret_cast<uintptr_t>(__start_simt_constant) <
           static_cast<size_t>(__stop_simt_constant - __start_simt_constant);
}

void check_elsewhere(enum access a, uintptr_t address, size_t bytes, const void *site)
{
    bool symbol = is_symbol(address);

    if (a == READ && (symbol || is_constant(address, bytes)))
        return;
    if (address - device_first < device_span)
        fail(cudaErrorIllegalAddress, site, "%s of %zu bytes of another device's memory: %s",
             access_names[a], bytes, name_of(self));
    if (symbol)
        fail(cudaErrorIllegalAddress, site, "%s of %zu bytes of constant memory: %s",
             access_names[a], bytes, name_of(self));
    fail(cudaErrorIllegalAddress, site, "%s of %zu bytes of host memory at %#lx: %s",
         access_names[a], bytes, static_cast<unsigned long>(address), name_of(self));
}

}
