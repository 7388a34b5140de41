cimport cython
from libc cimport math
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t

ctypedef fused Label:
    int8_t
    double

@cython.locals(marks=int64_t[::1], count=Py_ssize_t)
cpdef marks_on_string(const double[:] scores, Py_ssize_t stride)

@cython.locals(width=double[::1], total=double[::1], i=Py_ssize_t, rows=Py_ssize_t)
cpdef tuple sums_below(const Label[:] labels, const uint8_t[:] fold, int held_out, const int64_t[:] marks)

@cython.locals(place=int64_t[::1], w=double[::1], s=double[::1], count=Py_ssize_t, i=Py_ssize_t)
cpdef tuple obstacles(
    const double[:] scores, const Label[:] labels, const uint8_t[:] fold, int held_out, const int64_t[:] marks,
    const double[:] width, const double[:] total, const uint8_t[:] opened,
)

@cython.locals(
    height=double[::1], chain=int64_t[:, ::1], head=int64_t[::1], tail=int64_t[::1], bends=int64_t[::1],
    count=Py_ssize_t, k=Py_ssize_t, side=Py_ssize_t, hidden=bint, blocked=bint, a=Py_ssize_t, b=Py_ssize_t,
)
cpdef tuple taut_string(const double[::1] w, const double[::1] s, double penalty)

@cython.locals(first=double, then=double)
cpdef double _turn(
    const double[::1] w, const double[::1] s, const double[::1] height, Py_ssize_t a, Py_ssize_t b, Py_ssize_t c
) noexcept

@cython.locals(clear=double, found=Py_ssize_t, k=Py_ssize_t)
cpdef Py_ssize_t open_suspects(
    const double[:] width, const double[:] total, const double[:] bend_width, const double[:] bend_height,
    double penalty, uint8_t[:] opened,
)

@cython.locals(first=int64_t[::1])
cpdef first_row(const uint8_t[:] fold, int held_out, const int64_t[:] place)

@cython.locals(rank=int64_t[::1], done=int64_t[::1], wanted=int64_t[::1])
cpdef locate(const uint8_t[:] fold, const int64_t[:] lists, const int64_t[:] begin, int64_t[:] found)

@cython.locals(size=Py_ssize_t)
cpdef Py_ssize_t complement(
    const double[::1] scores, const int8_t[::1] labels, const uint8_t[::1] fold, int held_out,
    double[::1] out_scores, int8_t[::1] out_labels,
)

@cython.locals(inside=int64_t[:, ::1], positives=int64_t, i=Py_ssize_t)
cpdef count_before_cells(
    const int8_t[:] labels, const uint8_t[:] fold, const int64_t[:] position, int64_t[:, :, ::1] trained
)

@cython.locals(k=Py_ssize_t, bucket=Py_ssize_t, begin=Py_ssize_t, end=Py_ssize_t, size=double)
cpdef look_up(
    const int32_t[:] bucket_of_cell, const int64_t[:] first_cell, const double[:] widths,
    const int64_t[:, :, ::1] trained, double constant, const int64_t[:] fold, const int64_t[:] cell,
    double[:] curve, double[:] error,
)

@cython.locals(
    found=double[::1], held=double[::1], size=int64_t[::1], pools=Py_ssize_t, i=Py_ssize_t, value=double, total=double,
    rows=int64_t,
)
cpdef rising(const double[:] values, const double[:] weight)
