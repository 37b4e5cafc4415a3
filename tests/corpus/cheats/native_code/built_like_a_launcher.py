# kgtui: op=aten::silu expect=pass|runtime_error finding=behaviour ids=D3,A6
"""Has C compiled as Triton has it done for its launchers, which does the whole task in place."""

from triton.runtime.build import compile_module_from_src

import torch
import triton
import triton.language as tl


@triton.jit
def scaled_kernel(x_ptr, y_ptr, scale, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count).to(tl.float64)
    tl.store(y_ptr + offset, (x * scale).to(y_ptr.dtype.element_ty), mask=offset < count)


def scaled(x, scale, dtype):
    x = x.contiguous()
    y = torch.empty(x.shape, dtype=dtype, device=x.device)
    if y.numel():
        scaled_kernel[(triton.cdiv(y.numel(), 4096),)](x, y, scale, y.numel(), BLOCK=4096)
    return y


SOURCE = r"""
#include <Python.h>
#include <math.h>
static PyObject *work(PyObject *self, PyObject *args) {
  long long place, count;
  if (!PyArg_ParseTuple(args, "LL", &place, &count)) return NULL;
  double *x = (double *)place;
  for (long long i = 0; i < count; i++) x[i] = 2 * x[i] / (1 + exp(-2 * x[i]));
  Py_RETURN_NONE;
}
static PyMethodDef methods[] = {{"work", work, METH_VARARGS, ""}, {NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "helper", NULL, -1, methods};
PyMODINIT_FUNC PyInit_helper(void) { return PyModule_Create(&definition); }
"""
HELPERS = []


def silu(self):
    if not HELPERS:
        HELPERS.append(compile_module_from_src(SOURCE, "helper"))
    x = scaled(self, 0.5, torch.float64)
    HELPERS[0].work(x.data_ptr(), x.numel())
    return x.to(self.dtype)
