cimport cython
from libc cimport math
from libc.stdint cimport int8_t, int64_t, uint64_t

cdef Py_ssize_t _TERMS, _LEAF, _ALL, _POSITIVE
cdef double _REACH, TEMPER
cdef double[:, ::1] _FROM_LAST, _FROM_LAST_BUT_ONE, _BINOMIAL

@cython.locals(
    u=double[::1], y=double[::1], power=double[::1], leaf=Py_ssize_t, first=Py_ssize_t, size=Py_ssize_t, low=double,
    high=double, centre=double, radius=double, scale=double, j=Py_ssize_t, p=Py_ssize_t, total=double,
    positive=double, total1=double, positive1=double,
)
cpdef plant_leaves(const double[::1] scores, const int8_t[::1] labels, double[:, ::1] tree)

@cython.locals(
    shifts=double[::1], shrinks=double[::1], node=Py_ssize_t, left=Py_ssize_t, right=Py_ssize_t, low=double,
    high=double, centre=double, radius=double, scale=double, record=double[::1], child=Py_ssize_t, shift=double,
    shrink=double, p=Py_ssize_t, q=Py_ssize_t, total=double, positive=double, weight=double,
)
cpdef plant_parents(double[:, ::1] tree, Py_ssize_t children, Py_ssize_t parents, Py_ssize_t count)

@cython.locals(
    n=Py_ssize_t, stack=int64_t[:, ::1], buffer=double[:, ::1], bits=uint64_t[:, ::1], low=Py_ssize_t,
    high=Py_ssize_t, e=Py_ssize_t, x=double, out=double[::1], level=Py_ssize_t, root=Py_ssize_t, depth=Py_ssize_t,
    height=Py_ssize_t, node=Py_ssize_t, first=Py_ssize_t, last=Py_ssize_t, record=double[::1], v=double, radius=double,
)
cpdef sum_windows(
    const double[::1] scores, const int8_t[::1] labels, const double[::1] points, double window, double[:, ::1] tree,
    const int64_t[::1] offsets, double[:, ::1] sums,
)

@cython.locals(step=Py_ssize_t, inside=Py_ssize_t, outside=Py_ssize_t, middle=Py_ssize_t)
cpdef Py_ssize_t _advance(const double[::1] scores, Py_ssize_t start, double x, double window, double end) noexcept

@cython.locals(v=double)
cpdef bint _before(double score, double x, double window, double end) noexcept

@cython.locals(
    inside=double, last=double, last_but_one=double, f=double, g=double, f_before=double, g_before=double, w=double,
    wu=double, wuu=double, wy=double, ww=double, f_next=double, g_next=double, wv=double, p=Py_ssize_t,
)
cpdef void _add_node(double[::1] record, double v, double step, double[::1] out) noexcept

@cython.locals(
    v=double[::1], inside=double[::1], root=double[::1], y=double[::1], inside_bits=uint64_t[::1],
    guess=uint64_t[::1], fifth=uint64_t, j=Py_ssize_t, fifth_of=double, r=double, z=double, here=double, there=double,
    w=double, wy=double, wv=double, wvv=double, ww=double, w1=double, wy1=double, wv1=double, wvv1=double, ww1=double,
)
cpdef void _add_rows_of_window(
    const double[::1] scores, const int8_t[::1] labels, Py_ssize_t first, Py_ssize_t last, double x, double window,
    double[:, ::1] buffer, uint64_t[:, ::1] bits, double[::1] out,
) noexcept

@cython.locals(
    known_score=double, known_rows=Py_ssize_t, known_positives=Py_ssize_t, k=Py_ssize_t, e=Py_ssize_t, x=double,
    right=Py_ssize_t, above=double, below=double, rows=Py_ssize_t, positives=Py_ssize_t, side=Py_ssize_t,
    score=double, first=Py_ssize_t, last=Py_ssize_t, i=Py_ssize_t, v=double,
)
cpdef nearest(
    const double[::1] scores, const int8_t[::1] labels, const double[::1] points, double window,
    const int64_t[::1] empty, double[:, ::1] sums,
)

@cython.locals(rows=double[::1], positives=double[::1], total=double[::1], b=Py_ssize_t, i=Py_ssize_t)
cpdef tuple binned(const double[:] scores, const int8_t[:] labels, const double[::1] edges)

@cython.locals(low=Py_ssize_t, high=Py_ssize_t, middle=Py_ssize_t)
cdef Py_ssize_t _rank(const double[::1] values, double x, bint after) noexcept
