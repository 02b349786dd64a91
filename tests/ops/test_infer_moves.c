/* Shapes of the ops that move elements: what comes out, and what malformed nodes are told (reliability's families of
 * operator faults). Each case is a graph of one node in the text form. */
#include "ops/support/examples.h"

#define BAD TARE_E_MALFORMED

static void test_views(void **state) {
    (void)state;
    static const test_example examples[] = {
        { "float[N,3,4] x", "int64[2] s = {0, -1}", "y = Reshape(x, s)", "f32 Nx12", 0 },
        { "float[N,3,4] x", "int64[2] s = {-1, 12}", "y = Reshape(x, s)", "f32 Nx12", 0 },
        { "float[N,3,4] x", "int64[2] s = {-1, 6}", "y = Reshape(x, s)", "f32 ?x6", 0 },
        { "float[?,3,4] x", "int64[2] s = {0, -1}", "y = Reshape(x, s)", "f32 ?x12", 0 },
        { "float[N,M,4] x", "int64[3] s = {0, 0, -1}", "y = Reshape(x, s)", "f32 NxMx4", 0 },
        { "float[2,3,4] x", "int64[4] s = {2, -1, 2, 3}", "y = Reshape(x, s)", "f32 2x2x2x3", 0 },
        { "float[2,3,4] x, int64[2] s", "", "y = Reshape(x, s)", "f32 ?x?", 0 },
        { "float[2,3,4] x, int64[?] s", "", "y = Reshape(x, s)", "f32 ?", 0 },
        { "float[0,3] x", "int64[2] s = {3, 0}", "y = Reshape<allowzero = 1>(x, s)", "f32 3x0", 0 },
        { "float[N,3,4] x, float[N,M] z", "int64[1] m = {-1}",
          "a = Shape<start = 0, end = 1>(z) b = Concat<axis = 0>(a, m) y = Reshape(x, b)", "f32 Nx12", 0 },
        { "float[N,3,H,W] x", "int64 i = {0}, int64[1] o = {0}, int64[1] m = {-1}",
          "a = Shape(x) b = Gather(a, i) c = Unsqueeze(b, o) d = Concat<axis = 0>(c, m) y = Reshape(x, d)", "f32 Nx?",
          0 },
        { "float[2,3] x", "int64[2] s = {-1, -1}", "y = Reshape(x, s)", "-1 twice", BAD },
        { "float[2,3] x", "int64[2] s = {4, -1}", "y = Reshape(x, s)", "not a multiple of the 4", BAD },
        { "float[2,3] x", "int64[2] s = {2, 2}", "y = Reshape(x, s)", "6 elements, the wanted shape 4", BAD },
        { "float[2,3] x", "int64[2] s = {2, -2}", "y = Reshape(x, s)", "is -2", BAD },
        { "float[2,3] x", "int64[3] s = {2, 3, 0}", "y = Reshape(x, s)", "copies a dimension", BAD },
        { "float[0,3] x", "int64[2] s = {0, -1}", "y = Reshape<allowzero = 1>(x, s)", "both -1 and 0", BAD },
        { "float[2,3] x", "int64[2] s = {4611686018427387904, 4}", "y = Reshape(x, s)", "2^40", TARE_E_LIMIT },
        { "float[2,3] x", "float[2] s = {1, 6}", "y = Reshape(x, s)", "is f32, want s32, s64", BAD },
        { "float[N,3,4] x", "", "y = Flatten(x)", "f32 Nx12", 0 },
        { "float[N,3,4] x", "", "y = Flatten<axis = 0>(x)", "f32 1x?", 0 },
        { "float[2,3,4] x", "", "y = Flatten<axis = -1>(x)", "f32 6x4", 0 },
        { "float[2,3,4] x", "", "y = Flatten<axis = 4>(x)", "axis 4 is outside -3…3", BAD },
        { "float[N,1,1,4] x", "int64[2] a = {1, -2}", "y = Squeeze(x, a)", "f32 Nx4", 0 },
        { "float[2,1,1,4] x", "", "y = Squeeze(x)", "f32 2x4", 0 },
        { "float[N,1,4] x", "", "y = Squeeze(x)", "f32 ?", 0 },
        { "float[N,2,4] x", "int64[1] a = {1}", "y = Squeeze(x, a)", "dimension 1 is 2", BAD },
        { "float[1,1] x", "int64[2] a = {0, -2}", "y = Squeeze(x, a)", "axis 0 is named twice", BAD },
        { "float[1,1] x", "int64[1] a = {2}", "y = Squeeze(x, a)", "axis 2 is outside the 2 dimensions", BAD },
        { "float[N,4] x", "int64[2] a = {0, -1}", "y = Unsqueeze(x, a)", "f32 1xNx4x1", 0 },
        { "float[4] x, int64[1] a", "", "y = Unsqueeze(x, a)", "f32 ?x?", 0 },
        { "float[4] x", "int64[2] a = {0, 0}", "y = Unsqueeze(x, a)", "axis 0 is named twice", BAD },
        { "float[4] x", "int64[8] a = {0, 1, 2, 3, 4, 5, 6, 7}", "y = Unsqueeze(x, a)", "rank 9", TARE_E_UNSUPPORTED },
        { "float[N,3,4] x", "", "y = Transpose(x)", "f32 4x3xN", 0 },
        { "float[N,3,4] x", "", "y = Transpose<perm = [1, 0, 2]>(x)", "f32 3xNx4", 0 },
        { "float[] x", "", "y = Transpose<perm = [1, 0]>(x)", "f32 ?x?", 0 },
        { "float[N,3,4] x", "", "y = Transpose<perm = [1, 1, 2]>(x)", "no permutation: entry 1 is 1", BAD },
        { "float[N,3,4] x", "", "y = Transpose<perm = [1, 0]>(x)", "2 entries, the input has rank 3", BAD },
        { "float[N,3] x", "", "y = Transpose<perm = [-1, 0]>(x)", "entry 0 is -1", BAD },
    };
    TEST_CHECK_INFERENCE(examples);
}

static void test_joins_and_cuts(void **state) {
    (void)state;
    static const test_example examples[] = {
        { "float[N,3] a, float[N,4] b", "", "y = Concat<axis = 1>(a, b)", "f32 Nx7", 0 },
        { "float[N,3] a, float[2,M] b", "", "y = Concat<axis = -1>(a, b)", "f32 2x?", 0 },
        { "float[N,3] a, float[] b", "", "y = Concat<axis = 1>(a, b)", "f32 Nx?", 0 },
        { "float[N,3] a, float[N,4] b", "", "y = Concat<axis = 0>(a, b)", "has 4 in dimension 1", BAD },
        { "float[N,3] a, float[N,4,1] b", "", "y = Concat<axis = 1>(a, b)", "rank 3, those before it 2", BAD },
        { "float[N,3] a", "", "y = Concat<axis = 2>(a)", "axis 2 is outside", BAD },
        { "float[2] a, int64[2] b", "", "y = Concat<axis = 0>(a, b)", "is s64, but input 0 ('a') is f32", BAD },
        { "", "", "y = Concat<axis = 0>()", "has 0 inputs, want 1 at least", BAD },
        { "float[N,7] x", "", "y, z = Split<axis = 1, num_outputs = 2>(x)", "f32 Nx4, f32 Nx3", 0 },
        { "float[N,6] x", "", "y, z = Split<axis = 1>(x)", "f32 Nx3, f32 Nx3", 0 },
        { "float[N,6] x", "int64[2] s = {2, 4}", "y, z = Split<axis = 1>(x, s)", "f32 Nx2, f32 Nx4", 0 },
        { "float[N,6] x, int64[2] s", "", "y, z = Split<axis = 1>(x, s)", "f32 Nx?, f32 Nx?", 0 },
        { "float[N,7] x", "", "y, z = Split<axis = 1>(x)", "does not split into 2 equal parts", BAD },
        { "float[5] x", "", "y, z, u, v = Split<num_outputs = 4>(x)", "does not split into 4 parts of 2", BAD },
        { "float[6] x", "int64[2] s = {2, 3}", "y, z = Split(x, s)", "sum up to 5, the dimension is 6", BAD },
        { "float[6] x", "int64[2] s = {-2, 8}", "y, z = Split(x, s)", "size -2", BAD },
        { "float[6] x", "int64[3] s = {1, 2, 3}", "y, z = Split(x, s)", "not one size for each of the 2", BAD },
        { "float[6] x", "", "y, z = Split<num_outputs = 3>(x)", "3, but there are 2 outputs", BAD },
        { "float[10,N] x", "int64[1] s = {1}, int64[1] e = {8}, int64[1] a = {0}, int64[1] t = {2}",
          "y = Slice(x, s, e, a, t)", "f32 4xN", 0 },
        { "float[10,N] x", "int64[1] s = {0}, int64[1] e = {9223372036854775807}, int64[1] a = {1}",
          "y = Slice(x, s, e, a)", "f32 10xN", 0 },
        { "float[10,N] x",
          "int64[1] s = {-1}, int64[1] e = {-9223372036854775808}, int64[1] a = {0}, int64[1] t = {-3}",
          "y = Slice(x, s, e, a, t)", "f32 4xN", 0 },
        { "float[10] x", "int64[1] s = {9}, int64[1] e = {-100}, int64[1] a = {0}, int64[1] t = {-9223372036854775808}",
          "y = Slice(x, s, e, a, t)", "f32 1", 0 },
        { "float[10] x", "int64[1] s = {5}, int64[1] e = {2}", "y = Slice(x, s, e)", "f32 0", 0 },
        { "float[10,4] x, int64[1] s", "int64[1] e = {2}", "y = Slice(x, s, e)", "f32 ?x4", 0 },
        { "float[10] x", "int64[1] s = {0}, int64[1] e = {2}, int64[1] a = {0}, int64[1] t = {0}",
          "y = Slice(x, s, e, a, t)", "step 0 is 0", BAD },
        { "float[10] x", "int64[1] s = {0}, int64[2] e = {2, 3}", "y = Slice(x, s, e)", "1 starts, 2 ends", BAD },
        { "float[9,9] x", "int64[2] s = {0, 0}, int64[2] e = {2, 3}, int64[2] a = {1, -1}", "y = Slice(x, s, e, a)",
          "axis 1 is named twice", BAD },
        { "float[9] x", "int64[1] s = {0}, int64[1] e = {2}, int64[1] a = {1}", "y = Slice(x, s, e, a)",
          "axis 1 is outside", BAD },
        { "float[N,3,5] x", "int64[6] p = {0, 1, 2, 0, 1, -1}", "y = Pad(x, p)", "f32 Nx5x6", 0 },
        { "float[N,3,5] x", "int64[2] p = {1, 2}, int64[1] a = {-1}", "y = Pad(x, p, \"\", a)", "f32 Nx3x8", 0 },
        { "float[N,3] x, int64[4] p", "", "y = Pad(x, p)", "f32 ?x?", 0 },
        { "float[3] x", "int64[2] p = {-2, -2}", "y = Pad(x, p)", "take more than the 3", BAD },
        { "float[3] x", "int64[2] p = {3, 0}", "y = Pad<mode = \"reflect\">(x, p)",
          "a pad of 3 reflects a dimension of 3", BAD },
        { "float[0] x", "int64[2] p = {1, 0}", "y = Pad<mode = \"edge\">(x, p)", "nothing to copy", BAD },
        { "float[3] x", "int64[3] p = {1, 0, 1}", "y = Pad(x, p)", "3 pads for 1 axes, want 2", BAD },
        { "float[3] x", "int64[2] p = {9223372036854775807, 1}", "y = Pad(x, p)", "may be", TARE_E_LIMIT },
        { "float[3] x", "int64[2] p = {1, 1}, int64 v = {1}", "y = Pad(x, p, v)", "is s64, but input 0", BAD },
    };
    TEST_CHECK_INFERENCE(examples);
}

static void test_picks(void **state) {
    (void)state;
    static const test_example examples[] = {
        { "float[N,5,4] x, int64[2,M] i", "", "y = Gather<axis = 1>(x, i)", "f32 Nx2xMx4", 0 },
        { "float[N,5] x", "int64 i = {-5}", "y = Gather<axis = 1>(x, i)", "f32 N", 0 },
        { "float[5] x", "int64[2] i = {0, 5}", "y = Gather(x, i)", "index 5 at 1", BAD },
        { "float[5] x", "int64[1] i = {-6}", "y = Gather(x, i)", "index -6", BAD },
        { "float[0] x", "int64[1] i = {0}", "y = Gather(x, i)", "outside a dimension of 0", BAD },
        { "float[5] x", "int64 i = {0}", "y = Gather<axis = 1>(x, i)", "axis 1 is outside", BAD },
        { "float[5] x", "float[1] i = {0}", "y = Gather(x, i)", "is f32, want s32, s64", BAD },
        { "float[1,1,1,1,1] x, int64[1,1,1,1,1] i", "", "y = Gather(x, i)", "rank 9", TARE_E_UNSUPPORTED },
        { "float[N,5] x, int64[N,2] i", "", "y = GatherElements<axis = 1>(x, i)", "f32 Nx2", 0 },
        { "float[2,5] x, int64[3,2] i", "", "y = GatherElements<axis = 1>(x, i)", "of the indices is 3, of the data 2",
          BAD },
        { "float[2,5] x, int64[2] i", "", "y = GatherElements(x, i)", "has rank 1, want 2", BAD },
        { "float[2,3,4] x, int64[5,2] i", "", "y = GatherND(x, i)", "f32 5x4", 0 },
        { "float[N,3,4] x, int64[N,1] i", "", "y = GatherND<batch_dims = 1>(x, i)", "f32 Nx4", 0 },
        { "float[2,3] x, int64[5,3] i", "", "y = GatherND(x, i)", "is 3, want 1 to 2", BAD },
        { "float[2,3] x", "int64[1,2] i = {1, 3}", "y = GatherND(x, i)", "index 3 at 1", BAD },
        { "float[2,3] x, int64[2,1] i", "", "y = GatherND<batch_dims = 2>(x, i)", "batch_dims' is 2", BAD },
        { "float[3,N] x", "int64[3] s = {2, 1, 4}", "y = Expand(x, s)", "f32 2x3x4", 0 },
        { "float[3,1] x, int64[2] s", "", "y = Expand(x, s)", "f32 3x?", 0 },
        { "float[3] x", "int64[1] s = {-1}", "y = Expand(x, s)", "entry 0 of input 1 is -1", BAD },
        { "float[3] x", "int64[1] s = {4}", "y = Expand(x, s)", "does not broadcast", BAD },
        { "float[1] x", "int64[2] s = {4294967296, 1}", "y = Expand(x, s)", "2147483647 at most", TARE_E_LIMIT },
        { "float[1] x", "int64[3] s = {2000000000, 2000000000, 2000000000}", "y = Expand(x, s)", "2^40", TARE_E_LIMIT },
        { "float[3,N] x", "int64[2] r = {2, 1}", "y = Tile(x, r)", "f32 6xN", 0 },
        { "float[3,1] x, int64[2] r", "", "y = Tile(x, r)", "f32 ?x?", 0 },
        { "float[3] x", "int64[2] r = {2, 1}", "y = Tile(x, r)", "2 repeats, the input has rank 1", BAD },
        { "float[3] x", "int64[1] r = {9223372036854775807}", "y = Tile(x, r)", "would be", TARE_E_LIMIT },
        { "float[N,5] x", "int64[1] k = {3}", "y, z = TopK(x, k)", "f32 Nx3, s64 Nx3", 0 },
        { "float[N,5] x, int64[1] k", "", "y, z = TopK(x, k)", "f32 Nx?, s64 Nx?", 0 },
        { "float[5] x", "int64[1] k = {6}", "y, z = TopK(x, k)", "k is 6, want 0 to the 5", BAD },
        { "float[5] x", "int64[1] k = {-1}", "y, z = TopK(x, k)", "k is -1", BAD },
        { "float[N,5,4] x", "", "y = ArgMax<axis = 1>(x)", "s64 Nx1x4", 0 },
        { "float[N,5,4] x", "", "y = ArgMin<axis = -1, keepdims = 0>(x)", "s64 Nx5", 0 },
        { "float[2,0] x", "", "y = ArgMax<axis = 1>(x)", "no elements to choose from", BAD },
        { "float[N,5] x", "", "y = NonZero(x)", "s64 2x?", 0 },
        { "", "bool[4] x = {1, 0, 0, 1}", "y = NonZero(x)", "s64 1x2", 0 },
        { "float[N,3] x", "bool[2] c = {0, 1}", "y = Compress<axis = 1>(x, c)", "f32 Nx1", 0 },
        { "float[N,3] x, bool[2] c", "", "y = Compress(x, c)", "f32 ?", 0 },
        { "float[2] x", "bool[3] c = {0, 1, 0}", "y = Compress<axis = 0>(x, c)", "3 conditions for the 2", BAD },
    };
    TEST_CHECK_INFERENCE(examples);
}

static void test_rest(void **state) {
    (void)state;
    static const test_example examples[] = {
        { "float[N,8,H,3] x", "", "y = DepthToSpace<blocksize = 2>(x)", "f32 Nx2x?x6", 0 },
        { "float[1,2,4,6] x", "", "y = SpaceToDepth<blocksize = 2>(x)", "f32 1x8x2x3", 0 },
        { "float[1,6,4,6] x", "", "y = DepthToSpace<blocksize = 2>(x)", "not a multiple of 4", BAD },
        { "float[1,2,5,6] x", "", "y = SpaceToDepth<blocksize = 2>(x)", "dimension 2 is 5", BAD },
        { "float[1,2,5,6] x", "", "y = SpaceToDepth<blocksize = 0>(x)", "'blocksize' is 0", BAD },
        { "float[1,2,5] x", "", "y = SpaceToDepth<blocksize = 1>(x)", "has rank 3, want 4", BAD },
        { "float[1,1,0,0] x", "", "y = SpaceToDepth<blocksize = 2147483647>(x)", "may be", TARE_E_LIMIT },
        { "float[N,3] x", "", "y = Shape(x)", "s64 2", 0 },
        { "float[N,3] x", "", "y = Shape<start = -1>(x)", "s64 1", 0 },
        { "float[] x", "", "y = Shape(x)", "s64 ?", 0 },
        { "float[N,3] x", "", "y = Size(x)", "s64 scalar", 0 },
        { "", "int64[2] s = {2, 3}", "y = ConstantOfShape(s)", "f32 2x3", 0 },
        { "int64[2] s", "", "y = ConstantOfShape<value = int64[1] {1}>(s)", "s64 ?x?", 0 },
        { "", "int64[2] s = {2, -3}", "y = ConstantOfShape(s)", "dimension 1 is -3", BAD },
        { "", "int64[2] s = {2, 3}", "y = ConstantOfShape<value = int64[2] {1, 2}>(s)", "want one element", BAD },
        { "", "int64[3] s = {2000000000, 2000000000, 2}", "y = ConstantOfShape(s)", "2^40", TARE_E_LIMIT },
        { "", "", "y = Constant<value_ints = [1, 2, 3]>()", "s64 3", 0 },
        { "", "", "y = Constant<value_float = [0.5]>()", "f32 scalar", 0 },
        { "", "", "y = Constant<value_strings = [\"a\", \"b\"]>()", "string 2", 0 },
        { "", "", "y = Constant()", "holds none of the values", TARE_E_UNSUPPORTED },
        { "", "", "y = Constant<value_ints = [1], value_floats = [1]>()", "holds 2 values, want one", BAD },
        { "float[N] x, bool t", "", "y, m = Dropout(x, \"\", t)", "f32 N, bool N", 0 },
        { "float[N] x", "bool t = {1}", "y = Dropout(x, \"\", t)", "does not train", TARE_E_UNSUPPORTED },
        { "float[N,3,4] x", "", "y = Trilu(x)", "f32 Nx3x4", 0 },
        { "float[3] x", "", "y = Trilu(x)", "has rank 1, want 2 at least", BAD },
        { "float[T,N,4] x, int64[N] l", "", "y = ReverseSequence(x, l)", "f32 TxNx4", 0 },
        { "float[3,2] x, int64[3] l", "", "y = ReverseSequence(x, l)", "3 sequence lengths for a batch of 2", BAD },
        { "float[3,2] x, int64[2] l", "", "y = ReverseSequence<batch_axis = 0>(x, l)", "both 0", BAD },
    };
    TEST_CHECK_INFERENCE(examples);
}

static void test_control(void **state) {
    (void)state;
    static const test_example examples[] = {
        { "bool c, float[N,3] x", "",
          "y = If<then_branch = a () => (u) { u = Identity(x) }, else_branch = b () => (v) { v = Flatten(x) }>(c)",
          "f32 Nx3", 0 },
        { "bool c, float[N,3] x, float[2,3] z", "",
          "y = If<then_branch = a () => (u) { u = Identity(x) }, else_branch = b () => (v) { v = Identity(z) }>(c)",
          "f32 ?x3", 0 },
        /* The guarded Squeeze is wrong for this input, but it never runs. */
        { "bool c, float[4,3] x", "int64[1] o = {1}",
          "y = If<then_branch = a () => (u) { u = Squeeze(x, o) }, else_branch = b () => (v) { v = Identity(x) }>(c)",
          "f32 ?", 0 },
        { "float[4,3] x", "int64[1] o = {1}, bool c = {0}",
          "y = If<then_branch = a () => (u) { u = Squeeze(x, o) }, else_branch = b () => (v) { v = Identity(x) }>(c)",
          "f32 4x3", 0 },
        { "bool c, float[4,3] x", "int64[1] o = {1}",
          "y = If<then_branch = a () => (u) { u = Squeeze(x, o) }, else_branch = b () => (v) { v = Squeeze(x, o) }>(c)",
          "dimension 1 is 3", BAD },
        { "bool c, float[2] x, int64[2] z", "",
          "y = If<then_branch = a () => (u) { u = Identity(x) }, else_branch = b () => (v) { v = Identity(z) }>(c)",
          "f32 in one branch and s64 in the other", BAD },
        { "bool c, float[2] x", "",
          "y = If<then_branch = a () => (u, w) { u = Identity(x) w = Identity(x) }, else_branch = b () => (v) { v = "
          "Identity(x) }>(c)",
          "has 2 outputs, want 1", BAD },
        { "bool c, float[2] x", "", "y = If<then_branch = a () => (u) { u = Identity(x) }>(c)",
          "'else_branch' is missing", BAD },
        { "int64 m, float[2] x", "",
          "y, z = Loop<body = b (i, c, float[2] s) => (d, t, u) { d = Identity(c) t = Identity(s) u = Identity(i) "
          "}>(m, "
          "\"\", x)",
          "f32 2, s64 ?", 0 },
        { "int64 m, float[2] x", "",
          "y = Loop<body = b (i, c) => (d, t) { d = Identity(c) t = Identity(i) }>(m, \"\", x)", "has 2 inputs, want 3",
          BAD },
        { "float[2] a, float[T,3] x", "",
          "y, z = Scan<num_scan_inputs = 1, body = b (s, e) => (t, u) { t = Identity(s) u = Identity(e) }>(a, x)",
          "f32 2, f32 Tx3", 0 },
        { "float[2] a, float[3,T] x", "",
          "y, z = Scan<num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [-1], body = b (s, e) => (t, u) "
          "{ t "
          "= Identity(s) u = Identity(e) }>(a, x)",
          "f32 2, f32 3xT", 0 },
        { "float[2] a, float[T,3] x", "",
          "y, z = Scan<num_scan_inputs = 3, body = b (s, e) => (t, u) { t = Identity(s) u = Identity(e) }>(a, x)",
          "has 2 inputs, 3 of them to scan", BAD },
    };
    TEST_CHECK_INFERENCE(examples);
}

/* What the file declares is kept where nothing better is known, and must not contradict. */
static void test_declared(void **state) {
    (void)state;
    static const test_example examples[] = {
        { "float[2,3] x, int64[?] s", "float[3,2] y", "y = Reshape(x, s)", "f32 3x2", 0 },
        { "float[N,3] x", "float[1,3] y", "y = Identity(x)", "f32 Nx3", 0 },
        { "float[2,3] x", "float[N,3] y", "y = Identity(x)", "f32 2x3", 0 },
        { "float[2,3] x", "float[2,4] y", "y = Identity(x)", "declared 2x4, but the operator gives 2x3", BAD },
        { "float[2,3] x", "int64[2,3] y", "y = Identity(x)", "declared s64, but the operator gives f32", BAD },
        { "float[2,3] x, int64[?] s", "float[3,3] y", "y = Reshape(x, s)", "declared 3x3, but the input is 2x3", BAD },
    };
    TEST_CHECK_INFERENCE(examples);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_views), cmocka_unit_test(test_joins_and_cuts), cmocka_unit_test(test_picks),
        cmocka_unit_test(test_rest),  cmocka_unit_test(test_control),        cmocka_unit_test(test_declared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
