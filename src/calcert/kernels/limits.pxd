cimport cython
from libc cimport math

cdef double _SLACK, _LARGEST, _NEGLIGIBLE, _ROUNDED_UP, _STRETCH, _COARSE, _FIRST, _SECOND
cdef int _FINE

cpdef double relative_entropy(double q, double c) noexcept

cdef double _part(double weight, double shift) noexcept

cpdef double _mean_upper(double mean, double budget) except? -1

cpdef double _left_of(double c, double mean, double budget) noexcept

cpdef double bernstein(double variance, double bound, double n, double delta) noexcept

cpdef double berry_esseen_constant(double ratio) noexcept

cpdef double hoeffding(double proxy, double n, double delta) noexcept

@cython.locals(number=int, known=bint)
cpdef double _excess(double e, double variance, double bound, double n, double delta) noexcept

cpdef double gaussian_sharp(double variance, double bound, double n, double delta) except? -1

cpdef double beyond_iid_limit(double e, double variance, double bound, double n, double delta) noexcept

cpdef double grouped_limit(double variance, double bound, double n, double delta) noexcept

cpdef double _beyond(double a, double b, double plug_in, double second_moment, double n, double delta) noexcept

cpdef double _beyond_grouped(double a, double b, double plug_in, double second_moment, double n, double delta) noexcept

cpdef double _largest(double low, double top, double plug_in, double second_moment, double n, double delta) except? -1

cpdef double _largest_grouped(
    double low, double top, double plug_in, double second_moment, double n, double delta
) except? -1

cpdef double _least(double size, double second_moment, double n, double delta) except? -1

cpdef double _excluded(double a, double b, double size, double second_moment, double n, double delta) noexcept

cdef double _other_side(double c, double n, double delta) noexcept

cpdef double _convex_upper(double mean, double n, double delta, double most) except? -1

cpdef double _convex_excess(double c, double mean, double n, double delta) noexcept

cpdef double bentkus_tail(double e, double variance, double bound, double n) noexcept

@cython.locals(back=double)
cpdef double tail_ratio(double reached, double n, double odds, int power) noexcept

cpdef double _log_probability(double k, double n, double odds) noexcept

cdef double _least_remainder(double k) noexcept
