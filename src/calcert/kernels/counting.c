/* The loops that see every row, in C; counting.py says what they do, and is what runs where nothing was compiled.

   Compiled without contracting or reordering of operations. Everything here is exact: no result can depend on the
   machine. The interpreter's lock is released while a loop runs. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__GLIBC__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

#define BLOCK 2048 /* rows that are located at once: what is found of them stays near the processor */
#define OFFSET_BITS 45
#define SLOTS (1 << 14)

/* Cell and offset of scores times 2^40. Adding 2^52 puts the nearest integer into the low bits; where it is above the
   number, it is one too large. The upper half of [0, 1] is mirrored by turning over every bit. */
WIDE static void locate(double *restrict scaled, const uint64_t *restrict label, uint64_t *restrict slot,
                        uint64_t *restrict word, Py_ssize_t size) {
    const double far = 0x1p52;
    const uint64_t below_one = ((uint64_t)1 << 40) - 1;
    uint64_t bits[BLOCK], above[BLOCK];
    for (Py_ssize_t j = 0; j < size; j++) {
        double shifted = scaled[j] + far;
        above[j] = shifted - far > scaled[j] ? 1 : 0;
        scaled[j] = shifted;
    }
    memcpy(bits, scaled, size * sizeof *bits);
    for (Py_ssize_t j = 0; j < size; j++) {
        uint64_t units = bits[j] - 0x4330000000000000u - above[j];
        uint64_t mirrored = 0 - (units >> 39);
        uint64_t distance = units ^ (mirrored & below_one);
        /* Tiers are chosen by masks: compilers do not vectorise shifts by as many bits as another number says. */
        uint64_t first = distance >> 28 ? ~(uint64_t)0 : 0, second = distance >> 32 ? ~(uint64_t)0 : 0;
        uint64_t third = distance >> 36 ? ~(uint64_t)0 : 0;
        uint64_t whole = distance >> 14;
        whole = (whole & ~first) | (((distance >> 18) + 15360) & first);
        whole = (whole & ~second) | (((distance >> 22) + 30720) & second);
        whole = (whole & ~third) | (((distance >> 26) + 46080) & third);
        uint64_t cell = (whole ^ mirrored) + (mirrored & 108544);
        uint64_t offset = units & (0x3fff | (0x3c000 & first) | (0x3c0000 & second) | (0x3c00000 & third));
        uint64_t one = 0 - (units >> 40); /* all bits where the score is 1 */
        cell = (cell & ~one) | (108544 & one);
        slot[j] = (cell << 1) + label[j];
        word[j] = ((uint64_t)1 << OFFSET_BITS) + (offset & ~one);
    }
}

/* Kinds of arrays: scores F (float) or D (double), labels B (bytes), Q (int64) or D. */
#define FILL(NAME, SCORE, LABEL)                                                                                     \
    WIDE static Py_ssize_t NAME(const SCORE *scores, const LABEL *labels, uint64_t *packed, Py_ssize_t rows) {         \
        double scaled[BLOCK];                                                                                        \
        uint64_t label[BLOCK], slot[BLOCK], word[BLOCK];                                                             \
        for (Py_ssize_t start = 0; start < rows; start += BLOCK) {                                                   \
            Py_ssize_t size = rows - start < BLOCK ? rows - start : BLOCK;                                           \
            const SCORE *x = scores + start;                                                                         \
            const LABEL *y = labels + start;                                                                         \
            uint64_t bad = 0;                                                                                        \
            for (Py_ssize_t j = 0; j < size; j++) {                                                                  \
                double score = x[j];                                                                                 \
                bad |= (score >= 0.0 ? 0 : 1);                                                                       \
                bad |= (score <= 1.0 ? 0 : 1);                                                                       \
                scaled[j] = score * 0x1p40;                                                                          \
            }                                                                                                        \
            for (Py_ssize_t j = 0; j < size; j++) {                                                                  \
                label[j] = y[j] == 1 ? 1 : 0;                                                                        \
                bad |= (y[j] == 0 ? 1 : 0) ^ label[j] ^ 1;                                                           \
            }                                                                                                        \
            if (bad)                                                                                                 \
                for (Py_ssize_t j = 0; j < size; j++)                                                                \
                    if (!(x[j] >= 0 && x[j] <= 1 && (y[j] == 0 || y[j] == 1))) return start + j;                      \
            locate(scaled, label, slot, word, size);                                                                 \
            for (Py_ssize_t j = 0; j < size; j++) packed[slot[j]] += word[j];                                        \
        }                                                                                                            \
        return -1;                                                                                                   \
    }

FILL(fill_fb, float, uint8_t)
FILL(fill_fq, float, int64_t)
FILL(fill_fd, float, double)
FILL(fill_db, double, uint8_t)
FILL(fill_dq, double, int64_t)
FILL(fill_dd, double, double)

#define TALLY(NAME, LABEL)                                                                                           \
    static Py_ssize_t NAME(const int64_t *bits, const LABEL *labels, int64_t *keys, int64_t *counts, Py_ssize_t filled, \
                           Py_ssize_t limit, Py_ssize_t rows) {                                                      \
        for (Py_ssize_t i = 0; i < rows; i++) {                                                                      \
            int64_t key = bits[i];                                                                                   \
            uint64_t slot = ((uint64_t)key * 0x9E3779B97F4A7C15u) >> 50;                                             \
            while (keys[slot] != key && keys[slot] != -1) slot = (slot + 1) & (SLOTS - 1);                           \
            if (keys[slot] == -1) {                                                                                  \
                if (filled == limit) return -1;                                                                      \
                keys[slot] = key;                                                                                    \
                filled++;                                                                                            \
            }                                                                                                        \
            counts[2 * slot + (labels[i] == 1)]++;                                                                   \
        }                                                                                                            \
        return filled;                                                                                               \
    }

TALLY(tally_b, uint8_t)
TALLY(tally_q, int64_t)
TALLY(tally_d, double)

/* 'f', 'd', 'b' (one byte) or 'q' (eight bytes) for what an array holds, 0 for anything else. */
static char kind(const Py_buffer *array) {
    char format = array->format ? array->format[strlen(array->format) - 1] : 'B';
    if (format == 'f' || format == 'd') return format;
    if (array->itemsize == 1 && strchr("bB?", format)) return 'b';
    return array->itemsize == 8 && strchr("lqLQ", format) ? 'q' : 0;
}

/* The arrays of a call: contiguous, the last `written` of them writable; on failure nothing is held. */
static int take(PyObject *const *given, Py_buffer *arrays, int number, int written) {
    for (int k = 0; k < number; k++) {
        int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (k >= number - written ? PyBUF_WRITABLE : 0);
        if (PyObject_GetBuffer(given[k], &arrays[k], flags) < 0) {
            while (k--) PyBuffer_Release(&arrays[k]);
            return -1;
        }
    }
    return 0;
}

static void give_back(Py_buffer *arrays, int number) {
    for (int k = 0; k < number; k++) PyBuffer_Release(&arrays[k]);
}

static Py_ssize_t length(const Py_buffer *array) { return array->len / array->itemsize; }

static int expected(Py_ssize_t got, Py_ssize_t wanted, const char *name) {
    if (got == wanted) return 1;
    PyErr_Format(PyExc_TypeError, "%s takes %zd arguments; got %zd.", name, wanted, got);
    return 0;
}

static PyObject *fill(PyObject *module, PyObject *const *given, Py_ssize_t number) {
    Py_buffer a[3];
    if (!expected(number, 3, "fill") || take(given, a, 3, 1) < 0) return NULL;
    char score = kind(&a[0]), label = kind(&a[1]);
    Py_ssize_t rows = length(&a[0]), found = -2;
    if (rows == length(&a[1]) && length(&a[2]) == 2 * 108545 && kind(&a[2]) == 'q') {
        Py_BEGIN_ALLOW_THREADS
        if (score == 'f' && label == 'b') found = fill_fb(a[0].buf, a[1].buf, a[2].buf, rows);
        else if (score == 'f' && label == 'q') found = fill_fq(a[0].buf, a[1].buf, a[2].buf, rows);
        else if (score == 'f' && label == 'd') found = fill_fd(a[0].buf, a[1].buf, a[2].buf, rows);
        else if (score == 'd' && label == 'b') found = fill_db(a[0].buf, a[1].buf, a[2].buf, rows);
        else if (score == 'd' && label == 'q') found = fill_dq(a[0].buf, a[1].buf, a[2].buf, rows);
        else if (score == 'd' && label == 'd') found = fill_dd(a[0].buf, a[1].buf, a[2].buf, rows);
        Py_END_ALLOW_THREADS
    }
    give_back(a, 3);
    if (found == -2) {
        PyErr_SetString(PyExc_TypeError, "fill wants float scores, labels of uint8, int64 or float64, and all cells.");
        return NULL;
    }
    return PyLong_FromSsize_t(found);
}

static PyObject *flush(PyObject *module, PyObject *const *given, Py_ssize_t number) {
    Py_buffer a[3];
    if (!expected(number, 3, "flush") || take(given, a, 3, 3) < 0) return NULL;
    Py_ssize_t size = length(&a[0]);
    int good = size == length(&a[1]) && size == length(&a[2]) && kind(&a[0]) == 'q' && kind(&a[1]) == 'q' &&
               kind(&a[2]) == 'q';
    if (good) {
        uint64_t *packed = a[0].buf;
        int64_t *count = a[1].buf, *offset = a[2].buf;
        Py_BEGIN_ALLOW_THREADS
        for (Py_ssize_t j = 0; j < size; j++)
            if (packed[j]) {
                count[j] += (int64_t)(packed[j] >> OFFSET_BITS);
                offset[j] += (int64_t)(packed[j] & (((uint64_t)1 << OFFSET_BITS) - 1));
                packed[j] = 0;
            }
        Py_END_ALLOW_THREADS
    }
    give_back(a, 3);
    if (!good) {
        PyErr_SetString(PyExc_TypeError, "flush wants three arrays of 64-bit integers, of the same size.");
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *tally(PyObject *module, PyObject *const *given, Py_ssize_t number) {
    Py_buffer a[4];
    if (!expected(number, 6, "tally")) return NULL;
    Py_ssize_t filled = PyLong_AsSsize_t(given[4]), limit = PyLong_AsSsize_t(given[5]), found = -2;
    if (PyErr_Occurred() || take(given, a, 4, 2) < 0) return NULL;
    Py_ssize_t rows = length(&a[0]);
    char label = kind(&a[1]);
    if (rows == length(&a[1]) && length(&a[2]) == SLOTS && length(&a[3]) == 2 * SLOTS && limit < SLOTS &&
        kind(&a[0]) == 'q' && kind(&a[2]) == 'q' && kind(&a[3]) == 'q') {
        Py_BEGIN_ALLOW_THREADS
        if (label == 'b') found = tally_b(a[0].buf, a[1].buf, a[2].buf, a[3].buf, filled, limit, rows);
        else if (label == 'q') found = tally_q(a[0].buf, a[1].buf, a[2].buf, a[3].buf, filled, limit, rows);
        else if (label == 'd') found = tally_d(a[0].buf, a[1].buf, a[2].buf, a[3].buf, filled, limit, rows);
        Py_END_ALLOW_THREADS
    }
    give_back(a, 4);
    if (found == -2) {
        PyErr_SetString(PyExc_TypeError, "tally wants 64-bit keys, labels of uint8, int64 or float64, and whole tables.");
        return NULL;
    }
    return PyLong_FromSsize_t(found);
}

enum { BETWEEN, BEGIN, PLAIN, QUOTED, CLOSED, UNSOUND };

static PyObject *count_records(PyObject *module, PyObject *const *given, Py_ssize_t number) {
    Py_buffer content;
    if (!expected(number, 3, "count_records")) return NULL;
    long delimiter = PyLong_AsLong(given[1]), state = PyLong_AsLong(given[2]);
    if (PyErr_Occurred() || take(given, &content, 1, 0) < 0) return NULL;
    const unsigned char *bytes = content.buf;
    Py_ssize_t records = 0;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t i = 0; i < content.len && state != UNSOUND; i++) {
        unsigned char byte = bytes[i];
        if (state == QUOTED) {
            if (byte == '"') state = CLOSED;
        } else if (byte == '\n' || byte == '\r') {
            state = BETWEEN;
        } else {
            records += state == BETWEEN;
            if (delimiter == -1) state = PLAIN;
            else if (byte == '"') state = state == PLAIN ? UNSOUND : QUOTED;
            else if (byte == delimiter) state = BEGIN;
            else state = state == CLOSED ? UNSOUND : PLAIN;
        }
    }
    Py_END_ALLOW_THREADS
    give_back(&content, 1);
    return Py_BuildValue("nl", records, state);
}

static PyMethodDef methods[] = {
    {"fill", (PyCFunction)(void (*)(void))fill, METH_FASTCALL, NULL},
    {"flush", (PyCFunction)(void (*)(void))flush, METH_FASTCALL, NULL},
    {"tally", (PyCFunction)(void (*)(void))tally, METH_FASTCALL, NULL},
    {"count_records", (PyCFunction)(void (*)(void))count_records, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "calcert.kernels._counting", NULL, -1, methods};

PyMODINIT_FUNC PyInit__counting(void) { return PyModule_Create(&definition); }
