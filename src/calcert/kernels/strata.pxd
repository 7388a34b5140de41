cimport cython
from libc cimport math

from calcert.kernels.few_values cimport at_most_so_many, probability

cdef double _FAR, _DEEP, _TAILS, _ROUNDED, _LEAST

@cython.locals(
    last=double, spread=double, b=double, likely=double, added=double, highest=double, k=double, here=double,
    above=double, needed=double, whole=double, ratio=double, n=double,
)
cpdef double reaches(double total, double first, double p, double others, double q, double weight) noexcept

@cython.locals(a=double, high=double, step=double, b=double)
cpdef bint may_reach(
    double total, double first, double others, double successes, double weight, double level, double finest
) noexcept
