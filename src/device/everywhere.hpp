// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace weft::device {

// Whether WEFT_DEVICES names the driver in use. Ranks compare that when the job starts (coll::open_choices), so it
// holds for all of a job or for none. With `auto` it depends on what each process has loaded.
[[nodiscard]] bool everywhere();

}  // namespace weft::device
