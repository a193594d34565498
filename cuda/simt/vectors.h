/* CUDA's vector types, with its sizes and alignments. */
#ifndef GPUFILT_SIMT_VECTORS_H
#define GPUFILT_SIMT_VECTORS_H

namespace simt {
namespace api {

/* X(type, prefix, alignment of 2, alignment of 4); three elements align as one does. */
#define SIMT_VECTORS(X)                     \
    X(signed char, char, 2, 4)              \
    X(unsigned char, uchar, 2, 4)           \
    X(short, short, 4, 8)                   \
    X(unsigned short, ushort, 4, 8)         \
    X(int, int, 8, 16)                      \
    X(unsigned int, uint, 8, 16)            \
    X(long, long, 16, 16)                   \
    X(unsigned long, ulong, 16, 16)         \
    X(long long, longlong, 16, 16)          \
    X(unsigned long long, ulonglong, 16, 16) \
    X(float, float, 8, 16)                  \
    X(double, double, 16, 16)

#define SIMT_VECTOR(type, prefix, align2, align4)                                       \
    struct prefix##1 { type x; };                                                       \
    struct alignas(align2) prefix##2 { type x, y; };                                    \
    struct prefix##3 { type x, y, z; };                                                 \
    struct alignas(align4) prefix##4 { type x, y, z, w; };                              \
    inline prefix##1 make_##prefix##1(type x) { return {x}; }                           \
    inline prefix##2 make_##prefix##2(type x, type y) { return {x, y}; }                \
    inline prefix##3 make_##prefix##3(type x, type y, type z) { return {x, y, z}; }     \
    inline prefix##4 make_##prefix##4(type x, type y, type z, type w) { return {x, y, z, w}; }
SIMT_VECTORS(SIMT_VECTOR)
#undef SIMT_VECTOR
#undef SIMT_VECTORS

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
};

}
}

#endif
