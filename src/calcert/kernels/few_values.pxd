cimport cython
from libc cimport math
from libc.stdint cimport int64_t

cdef double _FAR, _TAILS, _ROUNDED, _TINY, _ROUNDING, _NEGLIGIBLE

@cython.locals(highest=double)
cpdef double _lacking(
    double c, const double[:] values, const double[:] shares, const double[:] bets, double n, double evidence
) noexcept

@cython.locals(taking=int64_t)
cpdef double at_most(double total, double gains, double loses, double n, double pay) noexcept

@cython.locals(upper=bint)
cpdef double at_most_so_many(double most, double trials, double success) noexcept

cpdef double probability(double hits, double trials, double success) noexcept

@cython.locals(i=Py_ssize_t)
cpdef largest_shares(const double[:] hits, const double[:] trials, const double[:] delta, double[:] found)

@cython.locals(share=double, misses=double, tail=double, over=double, step=double)
cdef double _largest_share(double hits, double trials, double delta) except? -1

cdef double _log_of_atom(double hits, double trials, double share) noexcept

@cython.locals(total=double, w=double, k=double, ratio=double)
cpdef double tail_by_atom(double least, double trials, double odds) noexcept

@cython.locals(atom=double)
cpdef double tail(double least, double trials, double share) noexcept
