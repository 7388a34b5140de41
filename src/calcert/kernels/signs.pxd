cimport cython
from libc cimport math
from libc.stdint cimport int64_t, uint8_t

@cython.locals(gained=double[:, ::1], plus=double, minus=double)
cpdef double most_gained(const double[:] net, const double[:] inside, Py_ssize_t changes)

@cython.locals(changed=double[:, :, ::1], most=double[:, ::1], signs=double[::1], s=Py_ssize_t)
cpdef best_signs(const double[:] net, Py_ssize_t changes)

@cython.locals(lowest=double, highest=double)
cpdef tuple furthest(const double[:] above, const double[:] below, bint single)

cpdef tuple best_run(const double[:] net, int side)

@cython.locals(
    before=int64_t[::1], sums=double[:, ::1], gain=double[:, ::1], most=double, begin=Py_ssize_t, end=Py_ssize_t,
    side=Py_ssize_t, i=Py_ssize_t,
)
cpdef signed_gains(
    const double[:] low, const double[:] high, const int64_t[:, :] known, const int64_t[:, :] last,
    const int64_t[:] scales,
)

@cython.locals(leap=Py_ssize_t)
cdef Py_ssize_t run_end(const int64_t[::1] before, Py_ssize_t begin, int64_t groups) noexcept

cdef double in_errors(double excess, double wobble) noexcept

@cython.locals(
    start=int64_t[::1], plain=uint8_t[::1], found=Py_ssize_t, step=Py_ssize_t, heavy=bint, simple=bint,
    noise_of_mean=double,
)
cpdef tuple capped_runs(
    const double[:] position, const double[:] mass, const double[:] wobbling, const uint8_t[:] single, Py_ssize_t n,
    double cap,
)

@cython.locals(here=double, zeros=int64_t, ones=double)
cpdef double total_plug_in(
    const double[:] low, const double[:] high, const double[:, :] fraction, const int64_t[:, :] count,
    const int64_t[:] start, const uint8_t[:] plain,
)
