cimport cython
from libc cimport math
from libc.stdint cimport int64_t

@cython.locals(held=Py_ssize_t, knots=double[::1], finest=double, seen=int64_t, reached=int64_t, apart=bint)
cpdef lay(
    const double[:] low, const double[:] high, const int64_t[:, :] count, Py_ssize_t runs, Py_ssize_t grid
)

cdef double _growth(int64_t rows, double low, double high, double before, double grid) noexcept

@cython.locals(step=int64_t)
cdef Py_ssize_t _up_to(double[::1] knots, Py_ssize_t found, double place, double grid) noexcept

@cython.locals(mass=double[:, ::1], left=int64_t[::1], rows=double, k=Py_ssize_t, y=Py_ssize_t)
cpdef tuple put(
    const double[::1] knots, const double[:] low, const double[:] high, const double[:, :] fraction,
    const int64_t[:, :] count,
)

cdef double inside(const double[::1] knots, Py_ssize_t k, double place) noexcept

@cython.locals(k=Py_ssize_t, y=Py_ssize_t)
cpdef admit(const double[::1] knots, double[:, ::1] pair)

@cython.locals(rounding=double, gain=double[:, ::1], k=Py_ssize_t, y=Py_ssize_t)
cpdef promised(const double[::1] knots, const double[:, ::1] pair, const double[:] low, const double[:] high)

@cython.locals(n=double, kept=double[::1], taken=double[:, ::1], i=Py_ssize_t, k=Py_ssize_t, y=Py_ssize_t)
cpdef tuple cost(
    const double[::1] knots, const double[::1] mass, const double[:, ::1] spread, const int64_t[::1] left,
    const double[:] low, const double[:] high, const double[:, :] fraction, const int64_t[:, :] count,
)

cdef (double, double) _between(double plan, int64_t before, int64_t rows, double n, double fraction) noexcept

cdef (double, double) _add(double total, double lost, double value) noexcept
