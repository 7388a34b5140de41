cimport cython
from libc.stdint cimport int64_t, uint8_t, uint64_t

cdef uint64_t _WORD, _SPREADING, _START, _FACTOR
cdef int64_t _FAR_BITS, _FAR, _PARTS, _SHIFT, _LAST, _BELOW_ONE

@cython.locals(units=int64_t, tier=int64_t, one=int64_t)
cdef (int64_t, int64_t) _located(double score) noexcept

@cython.locals(weighed=bint)
cpdef place_rows(
    const double[:] scores, const int64_t[:] labels, const int64_t[:] weight, int64_t[:, :] counted, int64_t[:] slot
)

@cython.locals(weighed=bint)
cpdef int64_t tally_weights(
    const int64_t[:] bits, const int64_t[:] labels, const int64_t[:] weight, int64_t[:] keys, int64_t[:] counts,
    int64_t filled, int64_t limit,
)

@cython.locals(word=uint64_t, slot=int64_t)
cpdef int64_t slot_of(int64_t key, const int64_t[:] keys)

@cython.locals(word=uint64_t)
cpdef uint64_t mixed(int64_t key) noexcept

@cython.locals(
    ends=int64_t[::1], place=int64_t[::1], weighed=bint, into=int64_t, down=int64_t, far=int64_t, part=Py_ssize_t,
)
cpdef sort_out(
    const int64_t[:] ids, const double[:] scores, const int64_t[:] slot, const int64_t[:] weight, int64_t[:] key,
    int64_t[:] what, int64_t[:] heavy,
)

@cython.locals(number=int64_t, mask=int64_t, weighed=bint, at=int64_t)
cpdef int64_t add_up(
    const int64_t[:] key, const int64_t[:] what, const int64_t[:] weight, int64_t[:, ::1] table, int64_t[:] found
)

@cython.locals(weighed=bint)
cpdef pair_up(
    const int64_t[:] found, const int64_t[:] what, const int64_t[:] weight, const int64_t[:, ::1] table,
    int64_t[:] pairs,
)

@cython.locals(
    held=int64_t[::1], touched=int64_t[::1], known=uint8_t[::1], count=Py_ssize_t, at=int64_t, i=Py_ssize_t,
    j=Py_ssize_t, a=Py_ssize_t, b=Py_ssize_t,
)
cpdef add_products(const int64_t[:] cluster, const int64_t[:, :] place, const int64_t[:, :] value, int64_t[:, :] table)

@cython.locals(mask=int64_t, byte=uint8_t, half=int64_t, at=int64_t, j=Py_ssize_t)
cpdef tuple number_names(
    const uint8_t[:] text, const int64_t[:] ends, int64_t[:, ::1] table, uint8_t[::1] known, int64_t[::1] known_ends,
    int64_t number, int64_t[:] found,
)

@cython.locals(j=Py_ssize_t)
cdef bint _is_name(
    const uint8_t[:] text, int64_t start, int64_t size, uint8_t[::1] known, int64_t[::1] known_ends, int64_t number
) noexcept

@cython.locals(mask=int64_t, at=int64_t)
cpdef move_names(const int64_t[:, ::1] old, int64_t[:, ::1] new)
