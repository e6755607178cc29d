/* SPDX-FileCopyrightText: 2026 the Weft authors
 * SPDX-License-Identifier: BSD-3-Clause */
/* The standard ABI lies in libweft.so; this library only carries its SONAME. */
typedef int weft_abi_carrier;
