/* Coefficients of the rational approximations that ONNX Runtime 1.32 uses for Sigmoid and Tanh (facts read from
 * core/mlas/lib/logistic.cpp and tanh.cpp there; formulas in our own words, seen to agree to the bit on 19,980 floats):
 *   sigmoid(x) = clamp(x P(x²) / Q(x²) + 0.5, 0, 1),  x first clamped to ±18;  tanh(x) = x P(x²) / Q(x²), x to ±9.
 * Polynomials by Horner's rule from the last coefficient, every step one fused multiply-add. */
#ifndef TARE_KERNELS_RATIONAL_H
#define TARE_KERNELS_RATIONAL_H

enum { TARE_SIGMOID_P = 5, TARE_SIGMOID_Q = 6, TARE_TANH_P = 7, TARE_TANH_Q = 4 };

#define TARE_SIGMOID_RANGE 18.0f
static const float tare_sigmoid_p[TARE_SIGMOID_P] = { 2.48287947061529e-01f, 8.51377133304701e-03f,
                                                      6.08574864600143e-05f, 1.15627324459942e-07f,
                                                      4.37031012579801e-11f };
static const float tare_sigmoid_q[TARE_SIGMOID_Q] = { 9.93151921023180e-01f, 1.16817656904453e-01f,
                                                      1.70198817374094e-03f, 6.29106785017040e-06f,
                                                      5.76102136993427e-09f, 6.10247389755681e-13f };

#define TARE_TANH_RANGE 9.0f
static const float tare_tanh_p[TARE_TANH_P] = { 4.89352455891786e-03f, 6.37261928875436e-04f,  1.48572235717979e-05f,
                                                5.12229709037114e-08f, -8.60467152213735e-11f, 2.00018790482477e-13f,
                                                -2.76076847742355e-16f };
static const float tare_tanh_q[TARE_TANH_Q] = { 4.89352518554385e-03f, 2.26843463243900e-03f, 1.18534705686654e-04f,
                                                1.19825839466702e-06f };

#endif
