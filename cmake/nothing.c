/* SPDX-FileCopyrightText: 2026 the Weft authors */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Libraries that only load another one (other_name.cmake). */
typedef int weft_nothing;
