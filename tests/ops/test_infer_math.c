/* Shapes and types of the arithmetic ops: what comes out, and what malformed nodes are told. */
#include "ops/support/examples.h"

#define BAD TARE_E_MALFORMED

static void test_elementwise(void **state) {
    (void)state;
    static const test_example examples[] = {
        { "float[N,3,4] x", "", "y = Exp(x)", "f32 Nx3x4", 0 },
        { "int32[3] x", "", "y = Exp(x)", "is s32, want f32", BAD },
        { "int32[3] x", "", "y = Abs(x)", "s32 3", 0 },
        { "float[N,3] a, float[3] b", "", "y = Add(a, b)", "f32 Nx3", 0 },
        { "float[N,1] a, float[M] b", "", "y = Mul(a, b)", "f32 NxM", 0 },
        { "float[N,3] a, float[N,?] b", "", "y = Sub(a, b)", "f32 Nx3", 0 },
        { "float[N,3] a, float[4] b", "", "y = Add(a, b)", "'b') of shape 4 does not broadcast with Nx3", BAD },
        { "float[3] a, int32[3] b", "", "y = Add(a, b)", "is s32, but those before it are f32", BAD },
        { "bool[3] a", "", "y = Add(a, a)", "is bool", BAD },
        { "float[3] a, int64[3] b", "", "y = Pow(a, b)", "f32 3", 0 },
        { "float[3] a, int64[2] b", "", "y = Pow(a, b)", "does not broadcast", BAD },
        { "float[3] a", "", "y = Mod(a, a)", "'fmod' is 0, but must be 1", BAD },
        { "int8[3] a", "", "y = Mod<fmod = 2>(a, a)", "'fmod' is 2", BAD },
        { "float[N,3] a, float[3] b", "", "y = Greater(a, b)", "bool Nx3", 0 },
        { "bool[N] a", "", "y = Equal(a, a)", "bool N", 0 },
        { "float[N] a", "", "y = And(a, a)", "is f32, want bool", BAD },
        { "uint8[3] a", "", "y = BitShift(a, a)", "'direction' is missing", BAD },
        { "int8[3] a", "", "y = BitShift<direction = \"LEFT\">(a, a)", "is s8", BAD },
        { "float[2,3] a, float[3] b, float[2,1] c", "", "y = Max(a, b, c)", "f32 2x3", 0 },
        { "float[2,3] a, float[3] b", "", "y = Sum(a, \"\", b)", "input 1 is left out", BAD },
        { "", "", "y = Max()", "has 0 inputs", BAD },
        { "float[N] x", "float l = {0}", "y = Clip(x, l)", "f32 N", 0 },
        { "float[N] x", "float[2] l = {0, 1}", "y = Clip(x, l)", "has shape 2, want a single number", BAD },
        { "float[N] x", "int64 l = {0}", "y = Clip(x, l)", "is s64, but", BAD },
        { "float[N,5,7] x, float[5,1] s", "", "y = PRelu(x, s)", "f32 Nx5x7", 0 },
        { "float[5,1] x, float[5,7] s", "", "y = PRelu(x, s)", "slope of shape 5x7 does not broadcast", BAD },
        { "float[3] x", "", "y = Celu<alpha = 0.0>(x)", "'alpha' is 0", BAD },
        { "float[3] x", "", "y = IsNaN(x)", "bool 3", 0 },
    };
    TEST_CHECK_INFERENCE(examples);
}

static void test_rows(void **state) {
    (void)state;
    static const test_example examples[] = {
        { "float[N,3] x", "", "y = Softmax<axis = -2>(x)", "f32 Nx3", 0 },
        { "float[N,3] x", "", "y = Softmax<axis = 2>(x)", "axis 2 is outside", BAD },
        { "float x", "", "y = Softmax(x)", "axis -1 is outside the 0 dimensions", BAD },
        { "float[N,3,H] x", "int64[1] a = {1}", "y = ReduceSum(x, a)", "f32 Nx1xH", 0 },
        { "float[N,3,H] x", "int64[2] a = {-1, 1}", "y = ReduceMean<keepdims = 0>(x, a)", "f32 N", 0 },
        { "float[N,3,H] x", "", "y = ReduceMax<keepdims = 0>(x)", "f32 scalar", 0 },
        { "float[N,3,H] x", "", "y = ReduceMax<noop_with_empty_axes = 1>(x)", "f32 Nx3xH", 0 },
        { "float[N,3] x, int64[1] a", "", "y = ReduceMax(x, a)", "f32 ?x?", 0 },
        { "float[N,3] x, int64[1] a", "", "y = ReduceMax<keepdims = 0>(x, a)", "f32 ?", 0 },
        { "float[N,3] x", "int64[1] a = {2}", "y = ReduceSum(x, a)", "axis 2 is outside", BAD },
        { "float[N,3] x", "int64[2] a = {1, -1}", "y = ReduceSum(x, a)", "axis 1 is named twice", BAD },
        { "float[N,3] x", "int64[9] a = {0, 1, 2, 3, 4, 5, 6, 7, 8}", "y = ReduceSum(x, a)", "more than 8 axes", BAD },
        { "float[2,3] x", "float[1] a = {1}", "y = ReduceSum(x, a)", "is f32, want s32, s64", BAD },
    };
    TEST_CHECK_INFERENCE(examples);
}

#define BN "y = BatchNormalization(x, s, s, s, v)"

static void test_normalizations(void **state) {
    (void)state;
    static const test_example examples[] = {
        { "float[N,2,H,W] x, float[2] s, float[2] v", "", BN, "f32 Nx2xHxW", 0 },
        { "float[N,3] x, float[2] s, float[3] v", "", BN, "scale ('s') has 2 numbers for 3 channels", BAD },
        { "float[N,2] x, float[2] s", "float[2] v = {1, -1}", BN, "variance of channel 1 is -1", BAD },
        { "float x, float[2] s, float[2] v", "", BN, "is a scalar", BAD },
        { "float[N,2] x, float[2,1] s, float[2] v", "", BN, "has rank 2, want 1", BAD },
        { "float[N,2] x, float[2] s, float[2] v", "", "y = BatchNormalization<epsilon = -1.0>(x, s, s, s, v)",
          "'epsilon' is -1", BAD },
        { "float[N,2] x, float[2] s, float[2] v", "", "y = BatchNormalization<training_mode = 1>(x, s, s, s, v)",
          "export the model for inference", TARE_E_UNSUPPORTED },
        { "float[N,3,H] x, float[3] s", "", "y = InstanceNormalization(x, s, s)", "f32 Nx3xH", 0 },
        { "float[N,3,H] x, float[2] s", "", "y = InstanceNormalization(x, s, s)", "has 2 numbers, want 3", BAD },
        { "float[N,6,H] x, float[6] s", "", "y = GroupNormalization<num_groups = 3>(x, s, s)", "f32 Nx6xH", 0 },
        { "float[N,6,H] x, float[6] s", "", "y = GroupNormalization<num_groups = 4>(x, s, s)",
          "is 4, and does not divide 6", BAD },
        { "float[N,6,H] x, float[6] s", "", "y = GroupNormalization<num_groups = 0>(x, s, s)", "'num_groups' is 0",
          BAD },
        { "float[N,T,8] x, float[8] s", "", "y, m = LayerNormalization(x, s)", "f32 NxTx8, f32 NxTx1", 0 },
        { "float[N,T,8] x, float[7] s", "", "y = LayerNormalization(x, s)", "does not broadcast", BAD },
        { "float[N,8] x, float[8] s", "", "y = LayerNormalization<axis = 3>(x, s)", "axis 3 is outside", BAD },
        { "float[N,8] x, float[8] s", "", "y = RMSNormalization(x, s)", "f32 Nx8", 0 },
        { "float[N,8,H] x", "", "y = LRN<size = 0>(x)", "'size' is 0", BAD },
        { "float[8] x", "", "y = LRN<size = 3>(x)", "has rank 1, want 2", BAD },
        { "float[N,8] x", "", "y = LpNormalization<p = 3>(x)", "'p' is 3", BAD },
        { "float[N,8] x", "", "y = MeanVarianceNormalization<axes = [2]>(x)", "axis 2 is outside", BAD },
    };
    TEST_CHECK_INFERENCE(examples);
}

static void test_quantization(void **state) {
    (void)state;
    static const test_example examples[] = {
        { "float[N,3] x, float s", "", "y = QuantizeLinear(x, s)", "u8 Nx3", 0 },
        { "float[N,3] x, float s, int16 z", "", "y = QuantizeLinear(x, s, z)", "s16 Nx3", 0 },
        { "float[N,3] x, float s", "", "y = QuantizeLinear<output_dtype = 3>(x, s)", "s8 Nx3", 0 },
        { "float[N,3] x, float s, int8 z", "", "y = QuantizeLinear<output_dtype = 2>(x, s, z)",
          "says u8, but the zero point is s8", BAD },
        { "float[N,3] x, float s", "", "y = QuantizeLinear<output_dtype = 17>(x, s)", "which is no integer code",
          TARE_E_UNSUPPORTED },
        { "float[N,3] x, float[2] s", "", "y = QuantizeLinear(x, s)", "there are 2 scales for axis 1 of 3", BAD },
        { "float[N,3] x, float[3] s", "", "y = QuantizeLinear<axis = 2>(x, s)", "axis 2 is outside", BAD },
        { "float[N,3] x, float[3] s, int8[2] z", "", "y = QuantizeLinear(x, s, z)", "zero point has shape 2", BAD },
        { "float[N,3] x, float[3,1] s", "", "y = QuantizeLinear(x, s)", "the scale has rank 2, want 0 or 1", BAD },
        { "float[4,6] x, float[4,2] s", "", "y = QuantizeLinear<block_size = 3>(x, s)", "u8 4x6", 0 },
        { "float[4,6] x, float[4,3] s", "", "y = QuantizeLinear<block_size = 3>(x, s)", "of the scale is 3, want 2",
          BAD },
        { "float[4,6] x, float[4,2] s", "", "y = QuantizeLinear<block_size = -1>(x, s)", "'block_size' is -1", BAD },
        { "int8[N,3] x, float s", "", "y = DequantizeLinear(x, s)", "f32 Nx3", 0 },
        { "int8[N,3] x, float16 s", "", "y = DequantizeLinear(x, s)", "f16 Nx3", 0 },
        { "int8[N,3] x, float s, uint8 z", "", "y = DequantizeLinear(x, s, z)", "is u8, but input 0", BAD },
        { "float[N,3] x, float s", "", "y = DequantizeLinear(x, s)", "is f32, want", BAD },
        { "float[N,3] x", "", "y, s, z = DynamicQuantizeLinear(x)", "u8 Nx3, f32 scalar, u8 scalar", 0 },
        { "float[N,3] x", "float s = {1}, float z = {0}, float b = {4}",
          "y = qonnx.custom_op.general.Quant(x, s, z, b)", "f32 Nx3", 0 },
        { "float[N,3] x", "float s = {1}, float z = {0}, float b = {40}",
          "y = qonnx.custom_op.general.Quant(x, s, z, b)", "the bit width is 40", BAD },
        { "float[N,3] x", "float[4] s = {1, 1, 1, 1}, float z = {0}, float b = {4}",
          "y = qonnx.custom_op.general.Quant(x, s, z, b)", "does not broadcast", BAD },
        { "uint8[N,3,5,5] x, int8[4,3,3,3] w", "", "y = ConvInteger(x, w)", "s32 Nx4x3x3", 0 },
        { "uint8[N,3,5,5] x, int8[4,2,3,3] w", "", "y = ConvInteger(x, w)", "the weight wants 2 in 1 groups", BAD },
        { "uint8[N,3,5] x, int8[4,3,3,3] w", "", "y = ConvInteger(x, w)", "rank 3 and the weight 4", BAD },
    };
    TEST_CHECK_INFERENCE(examples);
}

static void test_sampling_and_sums(void **state) {
    (void)state;
    static const test_example examples[] = {
        { "float[N,3,H,W] x, float[N,5,6,2] g", "", "y = GridSample(x, g)", "f32 Nx3x5x6", 0 },
        { "float[N,3,H,W] x, float[N,5,6,3] g", "", "y = GridSample(x, g)", "has 3 coordinates, want 2", BAD },
        { "float[N,3,0,4] x, float[N,5,6,2] g", "", "y = GridSample(x, g)", "dimension 2 of the input is 0", BAD },
        { "float[N,3,4] x, float[N,5,2] g", "", "y = GridSample(x, g)", "rank 3 and the grid 3", BAD },
        { "float[N,5,7] a, float[7,M] b", "", "y = Einsum<equation = \"bij,jk\">(a, b)", "f32 Nx5xM", 0 },
        { "float[N,5,7] a, float[7,M] b", "", "y = Einsum<equation = \"bij, jk -> kbi\">(a, b)", "f32 MxNx5", 0 },
        { "float[N,5,7] a, float[7,M] b", "", "y = Einsum<equation = \"...j,jk\">(a, b)", "f32 Nx5xM", 0 },
        { "float[5] a", "", "y = Einsum<equation = \"i->\">(a)", "f32 scalar", 0 },
        { "float[5] a", "", "y = Einsum<equation = \"ij->i\">(a)", "has 2 indices, its input 1", BAD },
        { "float[5] a", "", "y = Einsum<equation = \"i->j\">(a)", "that no input has", BAD },
        { "float[5] a", "", "y = Einsum<equation = \"i->ii\">(a)", "an index twice", BAD },
        { "float[5] a, float[6] b", "", "y = Einsum<equation = \"i,i\">(a, b)", "5 long and 6 long", BAD },
        { "float[5] a", "", "y = Einsum<equation = \"i,i\">(a)", "more terms than the 1 inputs", BAD },
        { "float[5] a, float[5] b", "", "y = Einsum<equation = \"i\">(a, b)", "has 1 terms, but there are 2", BAD },
        { "float[5] a", "", "y = Einsum<equation = \"$\">(a)", "0x24 where an index should be", BAD },
        { "float[5] a", "", "y = Einsum<equation = \"i-\">(a)", "'-' without '>'", BAD },
        { "float[5] a", "", "y = Einsum<equation = \"......\">(a)", "two '...'", BAD },
        { "float[5] a", "", "y = Einsum(a)", "'equation' is missing", BAD },
    };
    TEST_CHECK_INFERENCE(examples);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elementwise),       cmocka_unit_test(test_rows),
        cmocka_unit_test(test_normalizations),    cmocka_unit_test(test_quantization),
        cmocka_unit_test(test_sampling_and_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
