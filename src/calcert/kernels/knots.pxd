cimport cython
from libc cimport math
from libc.stdint cimport int64_t

@cython.locals(
    held=Py_ssize_t, through=double, before=double, rows=int64_t, knots=double[::1], finest=double, found=Py_ssize_t,
    seen=int64_t, run=int64_t, grown=double, reached=int64_t, apart=bint, i=Py_ssize_t,
)
cpdef lay(
    const double[:] low, const double[:] high, const int64_t[:, :] count, Py_ssize_t runs, Py_ssize_t grid
)

@cython.locals(across=double)
cdef double _growth(int64_t rows, double low, double high, double before, double grid) noexcept

@cython.locals(step=int64_t)
cdef Py_ssize_t _up_to(double[::1] knots, Py_ssize_t found, double place, double grid) noexcept

@cython.locals(
    mass=double[:, ::1], left=int64_t[::1], rows=double, here=double, right=double, i=Py_ssize_t, k=Py_ssize_t,
    y=Py_ssize_t,
)
cpdef tuple put(
    const double[::1] knots, const double[:] low, const double[:] high, const double[:, :] fraction,
    const int64_t[:, :] count,
)

cdef double inside(const double[::1] knots, Py_ssize_t k, double place) noexcept

@cython.locals(
    value=double, steepest=double, excess=double, here=double, wide=double, bend=double, before=double, k=Py_ssize_t,
    y=Py_ssize_t,
)
cpdef admit(const double[::1] knots, double[:, ::1] pair)

@cython.locals(
    rounding=double, gain=double[:, ::1], end=Py_ssize_t, first=double, last=double, value=double, i=Py_ssize_t,
    k=Py_ssize_t, y=Py_ssize_t,
)
cpdef promised(const double[::1] knots, const double[:, ::1] pair, const double[:] low, const double[:] high)

@cython.locals(
    n=double, of_zero=int64_t, kept=double[::1], taken=double[:, ::1], zeros=double, lost=double, wide=double,
    here=double, there=double, right=double, share=double, first=double, second=double, lost_zeros=double,
    ones=double, lost_ones=double, total=double, hidden=double, at=double, before_zeros=int64_t, before_ones=int64_t,
    end=double, moved=double, most=double, least=double, more=double, less=double, i=Py_ssize_t, k=Py_ssize_t,
    y=Py_ssize_t,
)
cpdef tuple cost(
    const double[::1] knots, const double[::1] mass, const double[:, ::1] spread, const int64_t[::1] left,
    const double[:] low, const double[:] high, const double[:, :] fraction, const int64_t[:, :] count,
)

@cython.locals(first=double, last=double)
cdef (double, double) _between(double plan, int64_t before, int64_t rows, double n, double fraction) noexcept

@cython.locals(found=double, part=double)
cdef (double, double) _add(double total, double lost, double value) noexcept
