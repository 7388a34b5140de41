cimport cython
from libc cimport math

@cython.locals(
    size=Py_ssize_t, tie=Py_ssize_t, every=Py_ssize_t, rounds=Py_ssize_t, short=double, i=Py_ssize_t, k=Py_ssize_t,
    y=Py_ssize_t, corrected=Py_ssize_t, _=Py_ssize_t,
    slack=double[::1], force=double[::1], share=double[::1], target=double[::1], change=double[::1], push=double[::1],
    pair=double[:, ::1], move=double[:, ::1], best_pair=double[:, ::1], stiff=double[:, ::1], factors=double[:, ::1],
    best_plan=double[::1], best_value=double, best_cost=double, mean=double, after=double, far=double, deep=double,
    kept=double, aim=double, value=double, cost=double,
)
cpdef tuple solve(const double[::1] knots, const double[:, ::1] mass, double enough)

@cython.locals(size=Py_ssize_t, gaps=Py_ssize_t, level=double, i=Py_ssize_t, k=Py_ssize_t)
cdef void _begin(
    const double[::1] knots, const double[:, ::1] mass, double[:, ::1] pair, double[::1] slack, double[::1] force
) noexcept

@cython.locals(total=double, ones=double, zeros=double, last=Py_ssize_t, back=Py_ssize_t, k=Py_ssize_t)
cpdef double spent(const double[::1] knots, const double[:, ::1] mass, const double[::1] plan, Py_ssize_t start)

@cython.locals(steepest=double, i=Py_ssize_t)
cdef double _room(double[::1] value, double[::1] change) noexcept

@cython.locals(
    gaps=Py_ssize_t, tie=Py_ssize_t, box=Py_ssize_t, k=Py_ssize_t, a=double, b=double, c=double, rest=double,
    zero=double, one=double, tied=double, s=double, t=double, inverse=double, held=double,
)
cdef void _factor(
    const double[::1] knots, double[::1] force, double[::1] share, double[:, ::1] stiff, double[:, ::1] factors
) noexcept

@cython.locals(
    size=Py_ssize_t, gaps=Py_ssize_t, tie=Py_ssize_t, box=Py_ssize_t, i=Py_ssize_t, k=Py_ssize_t, y=Py_ssize_t,
    zero=double, one=double, pull=double, left=double, right=double, a=double, b=double, c=double, inverse=double,
    rise=double,
)
cdef void _newton(
    const double[::1] knots, const double[:, ::1] mass, double[::1] share, double[::1] force, double[::1] target,
    double[:, ::1] stiff, double[:, ::1] factors, double[:, ::1] move, double[::1] change, double[::1] push,
) noexcept
