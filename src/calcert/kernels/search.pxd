cimport cython
from libc cimport math

cdef double _SLACK, _PRECISION

@cython.locals(c=double)
cpdef double largest_candidate(object excess, double low, double high, tuple known=*) except? -1

cpdef double _short_of(double c, object excess, tuple known) except? -1

@cython.locals(at_low=double, at_high=double, side=int, value=double, step=int)
cpdef tuple crossing(object falling, double low, double high, double precision=*, tuple known=*)
