cimport cython
from libc cimport math
from libc.stdint cimport int64_t, uint8_t

@cython.locals(gained=double[:, ::1], plus=double, minus=double)
cpdef double most_gained(const double[:] net, const double[:] inside, Py_ssize_t changes)

@cython.locals(
    changed=double[:, :, ::1], most=double[:, ::1], signs=double[::1], last=Py_ssize_t, i=Py_ssize_t, k=Py_ssize_t,
    s=Py_ssize_t, stop=Py_ssize_t, begin=Py_ssize_t,
)
cpdef best_signs(const double[:] net, Py_ssize_t changes)

@cython.locals(lowest=double, highest=double, up=double, down=double)
cpdef tuple furthest(const double[:] above, const double[:] below, bint single)

@cython.locals(
    bottom=Py_ssize_t, top=Py_ssize_t,
    risen_from=Py_ssize_t, risen_to=Py_ssize_t, fallen_from=Py_ssize_t, fallen_to=Py_ssize_t,
)
cpdef tuple best_run(const double[:] net, int side)

@cython.locals(
    points=Py_ssize_t, rows=int64_t, taught=int64_t, before=int64_t[::1], sums=double[:, ::1], gain=double[:, ::1],
    negative=int64_t, positive=int64_t, score=double, best=Py_ssize_t, most=double, begin=Py_ssize_t, end=Py_ssize_t,
    side=Py_ssize_t, i=Py_ssize_t, s=Py_ssize_t,
)
cpdef signed_gains(
    const double[:] low, const double[:] high, const int64_t[:, :] known, const int64_t[:, :] last,
    const int64_t[:] scales,
)

@cython.locals(
    points=Py_ssize_t, rows=int64_t, group=int64_t, below=Py_ssize_t, leap=Py_ssize_t, end=Py_ssize_t,
    middle=Py_ssize_t,
)
cdef Py_ssize_t run_end(const int64_t[::1] before, Py_ssize_t begin, int64_t groups) noexcept

cdef double in_errors(double excess, double wobble) noexcept

@cython.locals(
    last=Py_ssize_t, start=int64_t[::1], plain=uint8_t[::1], found=Py_ssize_t, at=Py_ssize_t, end=Py_ssize_t,
    step=Py_ssize_t, reach=double, wobble=double, estimated=double, heavy=bint, simple=bint, noise_of_mean=double,
)
cpdef tuple capped_runs(
    const double[:] position, const double[:] mass, const double[:] wobbling, const uint8_t[:] single, Py_ssize_t n,
    double cap,
)

@cython.locals(stop=Py_ssize_t, here=double, zeros=int64_t, ones=double, label=double)
cpdef double total_plug_in(
    const double[:] low, const double[:] high, const double[:, :] fraction, const int64_t[:, :] count,
    const int64_t[:] start, const uint8_t[:] plain,
)
