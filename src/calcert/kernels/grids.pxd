cimport cython
from libc cimport math
from libc.stdint cimport int64_t

@cython.locals(y=Py_ssize_t)
cpdef spread(
    const double[:, :] count, const double[:, :] fraction, double total, const int64_t[:, :, :] slot,
    const double[:, :, :] part, Py_ssize_t ends, double[:, :] weight,
)

@cython.locals(weight=double[:, ::1], base=Py_ssize_t, i=Py_ssize_t, y=Py_ssize_t, end=Py_ssize_t)
cpdef placed_at_once(
    const double[:] low, const double[:] high, const double[:, :] fraction, const int64_t[:, :] count, double total,
    Py_ssize_t size, bint cubic,
)

@cython.locals(margin=Py_ssize_t, found=double[:, ::1])
cpdef smoothed(
    const double[::1] f, const double[::1] mean_score, const double[::1] scale, const double[::1] decay,
    const double[::1] weight, Py_ssize_t reach,
)

@cython.locals(
    short=double, low=Py_ssize_t, first=Py_ssize_t, last=Py_ssize_t, f=double[::1], zeros=double[::1], ones=double[::1],
    left_zeros=double[::1], left_ones=double[::1],
)
cpdef signs_of(
    const int64_t[:, :] known, const int64_t[:] base, const double[:] part, Py_ssize_t near, tuple borders,
    const double[::1] score, const double[::1] scale, double step, double h,
)

@cython.locals(
    margin=Py_ssize_t, start=Py_ssize_t, first=Py_ssize_t, last=Py_ssize_t, inside=bint, base=Py_ssize_t,
    end=Py_ssize_t,
)
cpdef lower_to(
    double[:, :] gain, const double[:, ::1] at_grid, tuple borders, const double[:] low, const double[:] high,
    Py_ssize_t size, bint cubic,
)
