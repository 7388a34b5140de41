cimport cython
from libc cimport math
from libc.stdint cimport int64_t, uint64_t

cdef uint64_t ALL_BITS, OF_TWO, OF_FOUR, OF_EIGHT, ADDED_UP

@cython.locals(together=Py_ssize_t, bets=double[:, :, ::1], known=int64_t[:, ::1], y=Py_ssize_t, g=double)
cpdef judged(const double[:, :, :, :] gain, const int64_t[:, :, :, :] drawn, int64_t n, double delta)

@cython.locals(few=int64_t, large=double, here=int64_t, factor=double, _=Py_ssize_t)
cpdef double log_growth(double bet, const double[:, :] gain, const int64_t[:, :] rows, double c)

@cython.locals(
    many=int64_t, in_a_word=int64_t, word=Py_ssize_t, rest=uint64_t, tossed=uint64_t, draw=Py_ssize_t, _=Py_ssize_t,
)
cpdef split_up(const int64_t[:] count, const uint64_t[:] bits, const int64_t[:] into, int64_t[:, :] batches)

@cython.locals(sums=double[:, ::1])
cpdef by_place(
    const int64_t[:] cell, const int64_t[:, :] count, const int64_t[:, :] offset, const double[:] left,
    const int64_t[:] place, Py_ssize_t places,
)

@cython.locals(
    low=double[::1], high=double[::1], way=double[:, ::1], rows=int64_t[:, ::1], block=Py_ssize_t, c=Py_ssize_t,
    y=Py_ssize_t,
)
cpdef tuple by_block(
    const int64_t[:] cell, const int64_t[:, :] count, const int64_t[:, :] offset, const double[:] left,
    const double[:] right, const double[:] inside,
)
