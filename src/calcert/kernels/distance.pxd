cimport cython
from libc cimport math

@cython.locals(
    rounds=Py_ssize_t, short=double, y=Py_ssize_t, corrected=Py_ssize_t, slack=double[::1], force=double[::1],
    share=double[::1], target=double[::1], change=double[::1], push=double[::1], pair=double[:, ::1],
    move=double[:, ::1], best_pair=double[:, ::1], stiff=double[:, ::1], factors=double[:, ::1], best_plan=double[::1],
    best_value=double, best_cost=double, value=double,
)
cpdef tuple solve(const double[::1] knots, const double[:, ::1] mass, double enough)

cdef void _begin(
    const double[::1] knots, const double[:, ::1] mass, double[:, ::1] pair, double[::1] slack, double[::1] force
) noexcept

@cython.locals(ones=double, zeros=double)
cpdef double spent(const double[::1] knots, const double[:, ::1] mass, const double[::1] plan, Py_ssize_t start)

cdef double _room(double[::1] value, double[::1] change) noexcept

cdef void _factor(
    const double[::1] knots, double[::1] force, double[::1] share, double[:, ::1] stiff, double[:, ::1] factors
) noexcept

@cython.locals(y=Py_ssize_t, zero=double, one=double)
cdef void _newton(
    const double[::1] knots, const double[:, ::1] mass, double[::1] share, double[::1] force, double[::1] target,
    double[:, ::1] stiff, double[:, ::1] factors, double[:, ::1] move, double[::1] change, double[::1] push,
) noexcept
