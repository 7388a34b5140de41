cimport cython
from libc cimport math
from libc.stdint cimport int64_t

cdef double _FAR, _TAILS, _ROUNDED, _TINY, _ROUNDING

@cython.locals(
    highest=double, wealth=double, bet=double, capped=double, log_wealth=double, b=Py_ssize_t, k=Py_ssize_t,
)
cpdef double _lacking(
    double c, const double[:] values, const double[:] shares, const double[:] bets, double n, double evidence
) noexcept

@cython.locals(
    share=double, success=double, spread=double, first=double, last=double, weight=double, most=double, below=double,
    here=double, added=double, covered=double, taking=int64_t, now=double,
)
cpdef double at_most(double total, double gains, double loses, double n, double pay) noexcept

@cython.locals(odds=double, upper=bint, k=double, term=double, total=double)
cpdef double at_most_so_many(double most, double trials, double success) noexcept

@cython.locals(ways=double)
cpdef double probability(double hits, double trials, double success) noexcept
