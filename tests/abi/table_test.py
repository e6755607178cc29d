#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""The rules by which one implementation serves two functions, on cases known from the standard."""
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv.pop(1))
import table  # noqa: E402

FUNCTIONS = {f.name: f for f in table.functions()}


class WideningTest(unittest.TestCase):
    def wide(self, name):
        return FUNCTIONS[name].wide and FUNCTIONS[name].wide.name

    def test_scalar_counts_widen(self):
        for name in ("MPI_Send", "MPI_Allreduce", "MPI_Buffer_attach", "MPI_Win_create", "MPI_File_write_at"):
            self.assertEqual(self.wide(name), name + "_c")

    def test_pointers_and_arrays_do_not_widen(self):
        for name in ("MPI_Get_count", "MPI_Gatherv", "MPI_Buffer_detach", "MPI_Pack", "MPI_Op_create", "MPI_Type_size"):
            self.assertIsNone(self.wide(name))

    def test_constructors_whose_arguments_are_asked_for_later_do_not_widen(self):
        for name in ("MPI_Type_vector", "MPI_Type_contiguous", "MPI_Type_create_hvector", "MPI_Type_create_resized"):
            self.assertIsNone(self.wide(name))

    def test_functions_without_a_large_count_stand_alone(self):
        for name in ("MPI_Barrier", "MPI_Send_c"):
            self.assertIsNone(self.wide(name))


class NameTest(unittest.TestCase):
    def test_inner_names(self):
        self.assertEqual(FUNCTIONS["MPI_Comm_dup"].inner, "comm_dup")
        self.assertEqual(FUNCTIONS["MPI_T_cvar_get_num"].inner, "t_cvar_get_num")

    def test_arrays_are_declared_behind_the_name(self):
        self.assertEqual(table.declare("int [][3]", "ranges"), "int ranges[][3]")
        self.assertEqual(table.declare("char ** []", "argv"), "char** argv[]")

    def test_all_functions_of_the_abi_are_there(self):
        self.assertEqual(len(FUNCTIONS), 664)


if __name__ == "__main__":
    unittest.main()
