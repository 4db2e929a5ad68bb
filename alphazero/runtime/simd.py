"""Vectors of fixed length, with which compiled code computes many elements at once.

LLVM splits such a vector into the processor's registers. Automatic vectorization of short loops is
unreliable, because LLVM first unrolls a loop over 32 numbers into scalar code. This made the kernel
of `alphazero.inference.window_tables` four times slower.

Without the compiler, a vector is a numpy array, and the functions run as written here.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, overload, register_model


def load(array, start, count):
    """Return ``array[start : start + count]`` as a vector; ``count`` must be a constant."""
    return array[start : start + count].copy()


def store(vector, array, start):
    """Write a vector to ``array[start : start + len(vector)]``."""
    array[start : start + len(vector)] = vector


def spread(number, count):
    """Return a vector whose elements all equal ``number``; ``count`` must be a constant."""
    return np.full(count, number)


def add(a, b):
    """Return a + b."""
    return a + b


def multiply_add(a, b, c):
    """Return a * b + c; floats are rounded once if the processor supports it, integers wrap."""
    return a * b + c


def larger(a, b):
    """Return the elementwise maximum of two vectors."""
    return np.maximum(a, b)


def total(vector):
    """Return the sum of a float32 vector, whose length must be a power of 2."""
    return vector.sum()


def as_float32(vector):
    """Convert a vector of integers to float32."""
    return vector.astype(np.float32)


class _Vector(types.Type):
    """The type of a vector in compiled code."""

    def __init__(self, element: types.Type, count: int):
        super().__init__(f"Vector({element}, {count})")
        self.element = element
        self.count = count


@register_model(_Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        element = manager.lookup(kind.element).get_data_type()
        super().__init__(manager, kind, ir.VectorType(element, kind.count))


def _pointer(context, builder, array_type, array, start, vector_type):
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [start]), vector_type.as_pointer())


def _alignment(context, vector_type):
    return context.get_abi_alignment(vector_type.element)


@intrinsic(prefer_literal=True)
def _load(typing, array, start, count):
    kind = _Vector(array.dtype, count.literal_value)

    def build(context, builder, signature, arguments):
        vector_type = context.get_value_type(kind)
        pointer = _pointer(context, builder, array, *arguments[:2], vector_type)
        return builder.load(pointer, align=_alignment(context, vector_type))

    return kind(array, types.intp, count), build


@intrinsic
def _store(typing, vector, array, start):
    def build(context, builder, signature, arguments):
        value = arguments[0]
        pointer = _pointer(context, builder, array, *arguments[1:], value.type)
        builder.store(value, pointer, align=_alignment(context, value.type))

    return types.void(vector, array, types.intp), build


@intrinsic(prefer_literal=True)
def _spread(typing, number, count):
    number = types.unliteral(number)
    kind = _Vector(number, count.literal_value)

    def build(context, builder, signature, arguments):
        vector_type = context.get_value_type(kind)
        nothing = ir.Constant(vector_type, ir.Undefined)
        first = builder.insert_element(nothing, arguments[0], ir.IntType(32)(0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), kind.count), [0] * kind.count)
        return builder.shuffle_vector(first, nothing, zeros)

    return kind(number, count), build


@intrinsic
def _add(typing, a, b):
    def build(context, builder, signature, arguments):
        is_float = isinstance(a.element, types.Float)
        return (builder.fadd if is_float else builder.add)(*arguments)

    return a(a, b), build


@intrinsic
def _multiply_add(typing, a, b, c):
    def build(context, builder, signature, arguments):
        first, second, third = arguments
        if isinstance(a.element, types.Integer):
            return builder.add(builder.mul(first, second), third)
        product = builder.fmul(first, second, flags=("contract",))
        return builder.fadd(product, third, flags=("contract",))

    return a(a, b, c), build


@intrinsic
def _larger(typing, a, b):
    def build(context, builder, signature, arguments):
        is_float = isinstance(a.element, types.Float)
        compare = builder.fcmp_ordered if is_float else builder.icmp_signed
        return builder.select(compare(">", *arguments), *arguments)

    return a(a, b), build


@intrinsic
def _total(typing, vector):
    def build(context, builder, signature, arguments):
        value, count = arguments[0], vector.count
        while count > 1:
            count //= 2
            halves = []
            for start in (0, count):
                places = list(range(start, start + count))
                mask = ir.Constant(ir.VectorType(ir.IntType(32), count), places)
                halves.append(builder.shuffle_vector(value, value, mask))
            value = builder.fadd(*halves)
        return builder.extract_element(value, ir.IntType(32)(0))

    return vector.element(vector), build


@intrinsic
def _as_float32(typing, vector):
    kind = _Vector(types.float32, vector.count)

    def build(context, builder, signature, arguments):
        return builder.sitofp(arguments[0], context.get_value_type(kind))

    return kind(vector), build


@overload(load, prefer_literal=True)
def _(array, start, count):
    return lambda array, start, count: _load(array, start, count)


@overload(store)
def _(vector, array, start):
    return lambda vector, array, start: _store(vector, array, start)


@overload(spread, prefer_literal=True)
def _(number, count):
    return lambda number, count: _spread(number, count)


@overload(add)
def _(a, b):
    return lambda a, b: _add(a, b)


@overload(multiply_add)
def _(a, b, c):
    return lambda a, b, c: _multiply_add(a, b, c)


@overload(larger)
def _(a, b):
    return lambda a, b: _larger(a, b)


@overload(total)
def _(vector):
    return lambda vector: _total(vector)


@overload(as_float32)
def _(vector):
    return lambda vector: _as_float32(vector)
