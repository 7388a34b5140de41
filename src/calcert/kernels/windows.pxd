cimport cython
from libc cimport math
from libc.stdint cimport int8_t, int64_t, uint64_t

cdef Py_ssize_t _TERMS, _LEAF, _ALL, _POSITIVE
cdef double _REACH, TEMPER
cdef double[:, ::1] _FROM_LAST, _FROM_LAST_BUT_ONE, _BINOMIAL

@cython.locals(u=double[::1], y=double[::1], power=double[::1])
cpdef plant_leaves(const double[::1] scores, const int8_t[::1] labels, double[:, ::1] tree)

@cython.locals(shifts=double[::1], shrinks=double[::1], record=double[::1], total=double, positive=double)
cpdef plant_parents(double[:, ::1] tree, Py_ssize_t children, Py_ssize_t parents, Py_ssize_t count)

@cython.locals(
    stack=int64_t[:, ::1], buffer=double[:, ::1], bits=uint64_t[:, ::1], out=double[::1], level=Py_ssize_t,
    depth=Py_ssize_t, height=Py_ssize_t, node=Py_ssize_t, record=double[::1],
)
cpdef sum_windows(
    const double[::1] scores, const int8_t[::1] labels, const double[::1] points, double window, double[:, ::1] tree,
    const int64_t[::1] offsets, double[:, ::1] sums,
)

@cython.locals(step=Py_ssize_t)
cpdef Py_ssize_t _advance(const double[::1] scores, Py_ssize_t start, double x, double window, double end) noexcept

cpdef bint _before(double score, double x, double window, double end) noexcept

@cython.locals(f=double, p=Py_ssize_t)
cpdef void _add_node(double[::1] record, double v, double step, double[::1] out) noexcept

@cython.locals(
    v=double[::1], inside=double[::1], root=double[::1], y=double[::1], inside_bits=uint64_t[::1], guess=uint64_t[::1],
    wv=double, wv1=double,
)
cpdef void _add_rows_of_window(
    const double[::1] scores, const int8_t[::1] labels, Py_ssize_t first, Py_ssize_t last, double x, double window,
    double[:, ::1] buffer, uint64_t[:, ::1] bits, double[::1] out,
) noexcept

@cython.locals(known_positives=Py_ssize_t, e=Py_ssize_t, above=double, below=double, side=Py_ssize_t)
cpdef nearest(
    const double[::1] scores, const int8_t[::1] labels, const double[::1] points, double window,
    const int64_t[::1] empty, double[:, ::1] sums,
)

@cython.locals(rows=double[::1], positives=double[::1], total=double[::1], b=Py_ssize_t)
cpdef tuple binned(const double[:] scores, const int8_t[:] labels, const double[::1] edges)

cdef Py_ssize_t _rank(const double[::1] values, double x, bint after) noexcept
