/* Mutations that get past the checksums of PNG: after libFuzzer's own the CRC of each chunk is
 * put right, most of the time. */
#include <stdint.h>
#include <string.h>
#include <zlib.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

static uint32_t be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    size_t at = 8;

    size = LLVMFuzzerMutate(data, size, max_size);
    if (size < 8 || memcmp(data, "\x89PNG\r\n\x1a\n", 8) != 0 || seed % 8 == 0)
        return size;
    while (size - at >= 12 && be32(data + at) <= size - at - 12) {
        uint32_t length = be32(data + at);
        uint32_t crc = (uint32_t)crc32(0, data + at + 4, length + 4);
        for (int i = 0; i < 4; i++)
            data[at + 8 + length + (size_t)i] = (uint8_t)(crc >> (24 - 8 * i));
        at += 12 + (size_t)length;
    }
    return size;
}
