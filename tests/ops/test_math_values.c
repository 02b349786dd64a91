/* Numbers of the arithmetic ops, worked out by hand or taken from tables: ties, wrapping, far ends, empty rows. What is
 * random is compared with ONNX Runtime in the Python tests. */
#include <math.h>
#include <stdio.h>

#include "graph/text_form.h"
#include "ops/op.h"
#include "ops/support/examples.h"

#define NUMBERS(constants, node, tolerance, ...)                                                                       \
    test_check_numbers(constants, node, (const double[]){ __VA_ARGS__ },                                               \
                       sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double), tolerance)
#define EXACT(constants, node, ...) NUMBERS(constants, node, 0, __VA_ARGS__)
#define CLOSE(constants, node, ...) NUMBERS(constants, node, 2e-7, __VA_ARGS__)

static void test_rounding(void **state) {
    (void)state;
    const char *ties = "float[7] x = {0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 7}";
    EXACT(ties, "y = Round(x)", 0, 2, 2, 0, -2, -2, 7);
    EXACT(ties, "y = Floor(x)", 0, 1, 2, -1, -2, -3, 7);
    EXACT(ties, "y = Ceil(x)", 1, 2, 3, 0, -1, -2, 7);
    EXACT(ties, "y = Sign(x)", 1, 1, 1, -1, -1, -1, 1);
    EXACT("float[3] x = {0.1, 3, -7}", "y = Reciprocal(x)", (double)(1 / 0.1F), (double)(1 / 3.0F),
          (double)(1 / -7.0F));
}

static void test_functions(void **state) {
    (void)state;
    const char *one = "float[1] x = {1}", *minus = "float[1] x = {-1}";
    CLOSE("float[1] x = {0.5}", "y = Erf(x)", 0.5204998778130465);
    CLOSE(one, "y = Exp(x)", 2.718281828459045);
    CLOSE(one, "y = Gelu(x)", 0.8413447460685429);
    CLOSE(minus, "y = Gelu(x)", -0.15865525393145707);
    CLOSE(one, "y = Gelu<approximate = \"tanh\">(x)", 0.8411919906082768);
    CLOSE("float[2] x = {0, -100}", "y = Softplus(x)", 0.6931471805599453, 3.720075976020836e-44);
    CLOSE(one, "y = Mish(x)", 0.8650983882673103);
    CLOSE(minus, "y = Selu(x)", -1.1113307378125628);
    CLOSE(minus, "y = Elu<alpha = 2.0>(x)", -1.2642411176571153);
    CLOSE(minus, "y = Celu<alpha = 2.0>(x)", -0.7869386805747332);
    CLOSE(one, "y = HardSwish(x)", 2.0 / 3);
    CLOSE("float[3] x = {-3, 3, -1}", "y = HardSwish(x)", 0, 3, -1.0 / 3);
    CLOSE(one, "y = Sigmoid(x)", 0.7310585786300049);
    CLOSE("double[2] x = {1, -2}", "y = Sigmoid(x)", 0.7310585786300049, 0.11920292202211755);
    EXACT("float[4] x = {-4, -1, 1, 4}", "y = Shrink<bias = 1.5, lambd = 2.0>(x)", -2.5, 0, 0, 2.5);
    EXACT("float[4] x = {-4, -1, 1, 4}", "y = ThresholdedRelu(x)", 0, 0, 0, 4);
    EXACT("float[2] x = {-4, 3}", "y = LeakyRelu<alpha = 0.25>(x)", -1, 3);
    EXACT("float[2] x = {-4, 3}, float[1] s = {0.5}", "y = PRelu(x, s)", -2, 3);
}

static void test_integers_wrap(void **state) {
    (void)state;
    EXACT("int8[3] x = {-128, 127, -1}", "y = Abs(x)", -128, 127, 1);
    EXACT("int8[2] x = {-128, 127}", "y = Neg(x)", -128, -127);
    EXACT("int8[2] a = {127, -128}, int8[2] b = {1, -1}", "y = Add(a, b)", -128, 127);
    EXACT("uint8[2] a = {200, 3}, uint8[1] b = {2}", "y = Mul(a, b)", 144, 6);
    EXACT("int8[4] a = {-7, 7, -128, 5}, int8[4] b = {2, -2, -1, 9}", "y = Div(a, b)", -3, -3, -128, 0);
    EXACT("int64[1] a = {-9223372036854775808}, int64[1] b = {-1}", "y = Div(a, b)", -0x1p63);
    EXACT("int32[5] a = {-7, 7, -7, 7, 6}, int32[5] b = {3, -3, -3, 3, -3}", "y = Mod(a, b)", 2, -2, -1, 1, 0);
    EXACT("int32[4] a = {-7, 7, -7, 7}, int32[4] b = {3, -3, -3, 3}", "y = Mod<fmod = 1>(a, b)", -1, 1, -1, 1);
    EXACT("float[2] a = {-7.5, 7.5}, float[2] b = {2, -2}", "y = Mod<fmod = 1>(a, b)", -1.5, 1.5);
    EXACT("uint64[2] a = {18446744073709551615, 1}, uint64[1] b = {2}", "y = Greater(a, b)", 1, 0);
    EXACT("uint64[1] a = {18446744073709551615}, uint64[1] b = {1}", "y = Max(a, b)", 0x1p64);
    EXACT("uint8[3] a = {1, 200, 255}, uint8[3] b = {7, 1, 8}", "y = BitShift<direction = \"LEFT\">(a, b)", 128, 144,
          0);
    EXACT("uint64[2] a = {1, 9}, uint64[2] b = {64, 3}", "y = BitShift<direction = \"RIGHT\">(a, b)", 0, 1);
    EXACT("int8[2] a = {0, -1}", "y = BitwiseNot(a)", -1, 0);
}

static void test_powers(void **state) {
    (void)state;
    EXACT("int64[5] a = {2, -3, 0, -1, 3}, int64[5] b = {10, 3, 0, -3, -1}", "y = Pow(a, b)", 1024, -27, 1, -1, 0);
    EXACT("int32[2] a = {3, 2}, float[2] b = {2, -1}", "y = Pow(a, b)", 9, 0);
    EXACT("float[3] a = {-3, 0.5, 2}, float b = {3}", "y = Pow(a, b)", -27, 0.125, 8);
    EXACT("float[2] a = {-3, 5}, int64 b = {2}", "y = Pow(a, b)", 9, 25);
    CLOSE("float[2] a = {2, 10}, float[2] b = {0.5, -1}", "y = Pow(a, b)", 1.4142135623730951, 0.1);
    CLOSE("double[1] a = {2}, double[1] b = {0.5}", "y = Pow(a, b)", 1.4142135623730951);
}

static void test_bounds(void **state) {
    (void)state;
    const char *nan = "float[3] n = {0, 1, 2}, float z = {0}";
    EXACT("float[4] x = {-5, 0, 5, 9}, float l = {-1}, float h = {6}", "y = Clip(x, l, h)", -1, 0, 5, 6);
    EXACT("float[2] x = {-5, 9}, float l = {3}, float h = {1}", "y = Clip(x, l, h)", 1, 1);
    EXACT("int8[3] x = {-128, 3, 127}, int8 h = {5}", "y = Clip(x, \"\", h)", -128, 3, 5);
    /* 0 / 0 is NaN: it stays under Clip and Relu, wins in Max and Min, bounds nothing. */
    EXACT(nan, "q = Div(n, z) y = Relu(q)", NAN, INFINITY, INFINITY);
    EXACT(nan, "q = Div(n, z) y = Max(q, n)", NAN, INFINITY, INFINITY);
    EXACT(nan, "q = Div(n, z) y = Min(n, q)", NAN, 1, 2);
    EXACT("float[2] x = {-5, 9}, float z = {0}, float h = {1}", "q = Div(z, z) y = Clip(x, q, h)", -5, 1);
    EXACT("float[2] x = {1, 2}, float[2] e = {1, 3}", "y = Equal(x, e)", 1, 0);
}

static void test_half_floats(void **state) {
    (void)state;
    /* 0x3c00 is 1, 0x1000 is 2^-11: the sum is a tie and goes to even. */
    EXACT("float16[2] a = {15360, 15361}, float16[1] b = {4096}", "y = Add(a, b)", 1, 1 + 2 * 0x1p-10);
    EXACT("bfloat16[1] a = {16256}, bfloat16[1] b = {16384}", "y = Div(a, b)", 0.5);
}

static void test_rows(void **state) {
    (void)state;
    CLOSE("float[3] x = {1, 2, 3}", "y = Softmax(x)", 0.09003057317038046, 0.24472847105479764, 0.6652409557748218);
    CLOSE("float[2] x = {1000, 1000}", "y = LogSoftmax(x)", -0.6931471805599453, -0.6931471805599453);
    EXACT("float[2,3] x = {1, 5, 5, 7, 0, 7}", "y = Hardmax(x)", 0, 1, 0, 1, 0, 0);
    EXACT("float[3,1] x = {1, 5, 7}", "y = Softmax(x)", 1, 1, 1);
    CLOSE("float[2] x = {1000, 1000}", "y = ReduceLogSumExp(x)", 1000.6931471805599);
    EXACT("float[2,2] x = {3, 4, -6, 8}, int64[1] a = {1}", "y = ReduceL2(x, a)", 5, 10);
    EXACT("float[2,2] x = {3, 4, -6, 8}, int64[1] a = {0}", "y = ReduceL1(x, a)", 9, 12);
    EXACT("int32[3] x = {-7, 2, 1}", "y = ReduceMean(x)", -1);
    EXACT("int8[3] x = {3, 4, 12}", "y = ReduceL2(x)", 13);
    EXACT("uint8[3] x = {200, 200, 1}", "y = ReduceSum(x)", 145);
    EXACT("float[2] x = {-3, 2}", "y = ReduceSumSquare<noop_with_empty_axes = 1>(x)", 9, 4);
}

static void test_empty_rows(void **state) {
    (void)state;
    const char *none = "float[2,0] x = {}, int64[1] a = {1}";
    EXACT(none, "y = ReduceSum(x, a)", 0, 0);
    EXACT(none, "y = ReduceProd(x, a)", 1, 1);
    EXACT(none, "y = ReduceMax(x, a)", -INFINITY, -INFINITY);
    EXACT(none, "y = ReduceMin(x, a)", INFINITY, INFINITY);
    EXACT(none, "y = ReduceMean(x, a)", NAN, NAN);
    EXACT("int8[2,0] x = {}, int64[1] a = {1}", "y = ReduceMax(x, a)", -128, -128);
    EXACT("uint32[1,0] x = {}, int64[1] a = {1}", "y = ReduceMin(x, a)", 4294967295.0);
    EXACT("bool[1,0] x = {}, int64[1] a = {1}", "y = ReduceMax(x, a)", 0);
    test_check_numbers("float[1,1,1,0,1] x = {}, int64[1] a = {4}", "y = ReduceMax(x, a)", NULL, 0, 0);
    test_check_numbers("float[0,3] x = {}", "y = Softmax(x)", NULL, 0, 0);
}

static void test_normalizations(void **state) {
    (void)state;
    CLOSE("float[1,1,4] x = {1, 2, 3, 6}, float[1] s = {2}, float[1] b = {1}",
          "y = InstanceNormalization<epsilon = 0.5>(x, s, b)", 1 - 4.0 / 2, 1 - 2.0 / 2, 1, 1 + 6.0 / 2);
    CLOSE("float[2,2] x = {3, 4, 0, 2}, float[2] s = {1, 2}", "y = RMSNormalization<epsilon = 0.0>(x, s)",
          3 / 3.5355339059327378, 8 / 3.5355339059327378, 0, 4 / 1.4142135623730951);
    CLOSE("float[1,2] x = {3, 4}", "y = LpNormalization(x)", 0.6, 0.8);
    EXACT("float[2,2] x = {0, 0, 3, -1}", "y = LpNormalization<p = 1>(x)", 0, 0, 0.75, -0.25);
    CLOSE("float[1,3,1] x = {1, 2, 3}", "y = LRN<size = 3, alpha = 3.0, beta = 1.0, bias = 1.0>(x)", 1.0 / 6, 2.0 / 15,
          3.0 / 14);
    EXACT("float[1,2,1] x = {1, 3}", "y = MeanVarianceNormalization<axes = [1]>(x)", -1, 1);
}

static void test_codes(void **state) {
    (void)state;
    const char *ties = "float[6] x = {0.5, 1.5, 2.5, -0.5, -1.5, -2.5}, float s = {1}, int8 z = {0}, uint8 u = {3}";
    EXACT(ties, "y = QuantizeLinear(x, s, z)", 0, 2, 2, 0, -2, -2);
    EXACT(ties, "y = QuantizeLinear(x, s, u)", 3, 5, 5, 3, 1, 1);
    EXACT("float[3] x = {-9, 300, 7}, float s = {1}", "y = QuantizeLinear(x, s)", 0, 255, 7);
    EXACT("float[3] x = {-99, 99, 2.5}, float s = {1}, int4 z = {1}", "y = QuantizeLinear(x, s, z)", -8, 7, 3);
    CLOSE("int8[4] q = {12, -45, 7, -3}, float s = {0.02}", "y = DequantizeLinear(q, s)", 0.24, -0.9, 0.14, -0.06);
    CLOSE("int8[1,2] q = {-30, 40}, float[2] s = {0.01, 0.02}", "y = DequantizeLinear(q, s)", -0.3, 0.8);
    CLOSE("int32[2] q = {3175, -2147483648}, float s = {0.0001}", "y = DequantizeLinear(q, s)", 0.3175, -214748.3648);
    EXACT("uint8[2,4] q = {1, 2, 3, 4, 5, 6, 7, 8}, float[2,2] s = {1, 2, 3, 4}",
          "y = DequantizeLinear<block_size = 2>(q, s)", 1, 2, 6, 8, 15, 18, 28, 32);
    EXACT("float[3] x = {-1, 0, 2}", "q, s, z = DynamicQuantizeLinear(x) y = DequantizeLinear(q, s, z)", -1, 0, 2);
}

#define QUANT "qonnx.custom_op.general."

static void test_qonnx(void **state) {
    (void)state;
    const char *x = "float[6] x = {-3, -0.75, -0.2, 0.25, 0.75, 9}, float s = {0.5}, float z = {0}, float b = {2}";
    EXACT(x, "y = " QUANT "Quant<narrow = 0>(x, s, z, b)", -1, -1, 0, 0, 0.5, 0.5);
    EXACT(x, "y = " QUANT "Quant<narrow = 1>(x, s, z, b)", -0.5, -0.5, 0, 0, 0.5, 0.5);
    EXACT(x, "y = " QUANT "Quant<signed = 0, narrow = 0>(x, s, z, b)", 0, 0, 0, 0, 1, 1.5);
    EXACT(x, "y = " QUANT "Quant<signed = 0, narrow = 1>(x, s, z, b)", 0, 0, 0, 0, 1, 1);
    EXACT(x, "y = " QUANT "Quant<narrow = 0, rounding_mode = \"FLOOR\">(x, s, z, b)", -1, -1, -0.5, 0, 0.5, 0.5);
    EXACT(x, "y = " QUANT "Quant<narrow = 0, rounding_mode = \"CEIL\">(x, s, z, b)", -1, -0.5, 0, 0.5, 0.5, 0.5);
    EXACT(x, "y = " QUANT "Quant<narrow = 0, rounding_mode = \"ROUND_TO_ZERO\">(x, s, z, b)", -1, -0.5, 0, 0, 0.5, 0.5);
    EXACT(x, "y = " QUANT "Quant<narrow = 0, rounding_mode = \"HALF_UP\">(x, s, z, b)", -1, -1, 0, 0.5, 0.5, 0.5);
    EXACT("float[2] x = {-0.1, 0}, float s = {0.5}, float z = {0}, float b = {1}",
          "y = " QUANT "Quant<narrow = 0>(x, s, z, b)", -0.5, 0.5);
    EXACT("float[2,2] x = {0.9, 0.9, -9, 9}, float[2,1] s = {1, 0.5}, float z = {1}, float b = {3}",
          "y = " QUANT "Quant<narrow = 0>(x, s, z, b)", 1, 1, -2.5, 1);
    EXACT("float[3] x = {-0.1, 0, 7}, float s = {0.25}", "y = " QUANT "BipolarQuant(x, s)", -0.25, 0.25, 0.25);
    /* Codes 13 and -7 of four bits lose two: 3 and -2, each worth a quarter of what it was. */
    EXACT("float[2] x = {6.5, -3.5}, float s = {0.5}, float z = {0}, float i = {4}, float o = {2}",
          "y = " QUANT "Trunc(x, s, z, i, o)", 1.5, -1);
    EXACT("float[2] x = {6.5, -3.5}, float s = {0.5}, float z = {0}, float i = {5}, float t = {2}, float o = {3}",
          "y = " QUANT "Trunc(x, s, z, i, t, z, o)", 6, -4);
}

static void test_integer_products(void **state) {
    (void)state;
    /* Public fault N1: exact -3132, saturating pairs of int16 give -3050. */
    EXACT("uint8[1,1,3] x = {210, 198, 234}, int8[1,1,3] w = {-81, -80, 127}", "y = ConvInteger(x, w)", -3132);
    EXACT("uint8[1,1,3] x = {1, 2, 3}, uint8[1,1,2] w = {5, 7}, uint8 a = {2}, uint8 b = {6}",
          "y = ConvInteger<pads = [1, 1]>(x, w, a, b)", -1, 1, 1, -1);
    EXACT("float[2,2] a = {1, 2, 3, 4}, float[2,2] b = {1, 0, 2, 1}", "y = Einsum<equation = \"ij,jk->ki\">(a, b)", 5,
          11, 2, 4);
    EXACT("int32[2,2] a = {1, 2, 3, 4}", "y = Einsum<equation = \"ii->i\">(a)", 1, 4);
    EXACT("int32[2,2] a = {1, 2, 3, 4}", "y = Einsum<equation = \"ij->\">(a)", 10);
}

static void test_division_by_zero_is_told(void **state) {
    (void)state;
    static const char *const ops[] = { "Div", "Mod" };
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        char text[256];
        tare_model *model;
        tare_error err = { 0 };
        bool done;
        int length = snprintf(text, sizeof text,
                              "<ir_version: 10, opset_import: [\"\" : 23]> g () => (y) "
                              "<int32[3] a = {1, 2, 3}, int32[3] b = {1, 2, 0}> { y = %s(a, b) }",
                              ops[i]);
        if (tare_model_parse(&model, text, (size_t)length, &err) != TARE_OK) fail_msg("%s", err.text);
        if (tare_node_infer(model->graph->first, &err) != TARE_OK) fail_msg("%s", err.text);
        test_check_error(ops[i], tare_node_evaluate(model->graph->first, &done, &err), &err, TARE_E_MALFORMED,
                         "element 2 of the divisor is 0");
        tare_model_free(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_integers_wrap),
        cmocka_unit_test(test_powers),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_half_floats),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_empty_rows),
        cmocka_unit_test(test_normalizations),
        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_qonnx),
        cmocka_unit_test(test_integer_products),
        cmocka_unit_test(test_division_by_zero_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
