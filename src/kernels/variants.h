/* Declares every variant that kernels.def names for this architecture, for the files that define them and for select.c. */
#ifndef TARE_KERNELS_VARIANTS_H
#define TARE_KERNELS_VARIANTS_H

#include "kernels/kernels.h"

#define SLOT(type, slot)         typedef type tare_##slot##_type;
#define KERNEL(slot, isa, needs) tare_##slot##_type tare_##slot##_##isa;
#include "kernels/kernels.def"
#undef SLOT
#undef KERNEL

/* The name of a template's function for the instruction set ISA. */
#define PASTE_(a, b, c) a##b##c
#define PASTE(a, b, c)  PASTE_(a, b, c)
#define VARIANT(slot)   PASTE(tare_##slot, _, ISA)

#endif
