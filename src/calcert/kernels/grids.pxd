cimport cython
from libc cimport math
from libc.stdint cimport int64_t

@cython.locals(share=double, high=double, here=double, i=Py_ssize_t, y=Py_ssize_t, end=Py_ssize_t, side=Py_ssize_t)
cpdef spread(
    const double[:, :] count, const double[:, :] fraction, double total, const int64_t[:, :, :] slot,
    const double[:, :, :] part, Py_ssize_t ends, double[:, :] weight,
)

@cython.locals(
    weight=double[:, ::1], scaled=double, base=Py_ssize_t, s=double, before=double, after=double, inner=double,
    here=double, i=Py_ssize_t, y=Py_ssize_t, end=Py_ssize_t,
)
cpdef placed_at_once(
    const double[:] low, const double[:] high, const double[:, :] fraction, const int64_t[:, :] count, double total,
    Py_ssize_t size, bint cubic,
)

@cython.locals(
    size=Py_ssize_t, margin=Py_ssize_t, found=double[:, ::1], begin=Py_ssize_t, end=Py_ssize_t, i=Py_ssize_t,
    k=Py_ssize_t, r0=double, r1=double, r2=double, r3=double, w0=double, w1=double, w2=double, w3=double,
    a0=double, a1=double, a2=double, a3=double, b0=double, b1=double, b2=double, b3=double, x=double, y=double,
)
cpdef smoothed(
    const double[::1] f, const double[::1] mean_score, const double[::1] scale, const double[::1] decay,
    const double[::1] weight, Py_ssize_t reach,
)

@cython.locals(
    short=double, low=Py_ssize_t, first=Py_ssize_t, last=Py_ssize_t, f=double[::1], i=Py_ssize_t, j=Py_ssize_t,
    begin=Py_ssize_t, end=Py_ssize_t, zeros=double[::1], ones=double[::1], here=Py_ssize_t, s=double, slow=double,
    fast=double, left_zeros=double[::1], left_ones=double[::1], a=double, b=double, c=double, d=double, zero=double,
    one=double, sharp=double, after=double, t=double, spread=double, sign=double, k=Py_ssize_t,
)
cpdef signs_of(
    const int64_t[:, :] known, const int64_t[:] base, const double[:] part, Py_ssize_t near, tuple borders,
    const double[::1] score, const double[::1] scale, double step, double h,
)

@cython.locals(
    margin=Py_ssize_t, start=Py_ssize_t, first=Py_ssize_t, last=Py_ssize_t, before=double, inside=bint, zero=double,
    one=double, place=double, base=Py_ssize_t, s=double, at=Py_ssize_t, inner=double, after=double, on=double,
    p=double, q=double, r=double, t=double, i=Py_ssize_t, end=Py_ssize_t,
)
cpdef lower_to(
    double[:, :] gain, const double[:, ::1] at_grid, tuple borders, const double[:] low, const double[:] high,
    Py_ssize_t size, bint cubic,
)
