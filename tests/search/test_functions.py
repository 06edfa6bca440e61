"""Code as words: what is looked for among notes, and what a model is told that a function is about."""

import pytest

from mnemolens.core.symbols import FileSymbols, Position, Range, Symbol, SymbolRange
from mnemolens.search.functions import document, documents, opening, summary, wanted_by

FIELDS = {
    "name": "Payment.chargeCard",
    "head": "def chargeCard(self, amount)",
    "docs": "",
    "path": "shop/pay_ment.py",
    "around": "",
    "body": (
        "def chargeCard(self, amount):\n"
        "    # the provider charges twice\n"
        "    log_call('charged again')\n"
        "    return self.provider.send(amount, send(1))\n"
    ),
}


def test_a_summary_is_name_file_what_is_said_and_what_is_called():
    assert summary(FIELDS) == (
        "payment charge card in shop pay ment. the provider charges twice charged again."
        " calls charge card, log call, send"
    )


def test_what_a_function_says_of_itself_stands_in_it():
    fields = {**FIELDS, "docs": "Takes the money.", "body": "return 1"}
    assert summary(fields) == "payment charge card in shop pay ment. Takes the money."
    around = {**fields, "around": "A payment by card"}
    assert summary(around) == "payment charge card in shop pay ment. A payment by card. Takes the money."


def test_a_summary_stays_short():
    calls = " ".join(f"step_{number}()" for number in range(1_000))
    long = {**FIELDS, "docs": "x" * 5_000, "around": "z" * 5_000, "body": f"'{'y' * 5_000}' {calls}"}
    assert len(summary(long)) < 1_300


def test_what_languages_are_made_of_is_not_looked_for():
    fields = {**FIELDS, "name": "f", "head": "", "body": "if self is None: return ledger", "around": "card"}
    assert {one.term for one in wanted_by(fields)} == {"f", "ledg"}


def test_what_class_and_file_say_is_around_a_method():
    lines = ['"""Money of customers."""', "class Payment:", "    def charge(self): ...", "def total(): ..."]
    text = "\n".join(lines).encode()

    def text_in(span):
        starts = [sum(len(line) + 1 for line in lines[:at]) for at in range(len(lines) + 1)]
        return text[starts[span.start.line] + span.start.column : starts[span.end.line] + span.end.column]

    def at(line):
        whole = Range(Position(line, 0), Position(line, len(lines[line])))
        return SymbolRange(whole, whole)

    symbols = FileSymbols(
        "python",
        (
            Symbol("Payment", "Payment", 0, "class", -1, docstring="By card or by bank."),
            Symbol("charge", "Payment.charge", 0, "method", 0, docstring="Takes it."),
            Symbol("total", "total", 0, "function", -1),
        ),
        ranges=(at(1), at(2), at(3)),
    )
    made = dict(documents("pay.py", symbols, text_in))
    assert [made[number]["around"] for number in range(3)] == [
        "Money of customers.",
        "By card or by bank.\nMoney of customers.",
        "Money of customers.",
    ]
    assert document("pay.py", symbols, 1, text_in) == made[1]


@pytest.mark.parametrize(
    ("above", "said"),
    [
        ("/** Charges a card. */\n", ""),
        ("// Charges\n// a card.\n", ""),
        ("// Money of customers.\n\n// Charges a card.\n", "Money of customers."),
        ("// Money of customers.\n\n", "Money of customers."),
    ],
)
def test_a_comment_right_above_the_first_definition_is_not_the_files(above, said):
    line = above.count("\n")
    whole = Range(Position(line, 0), Position(line, 5))
    symbols = FileSymbols(
        "javascript", (Symbol("f", "f", 0, "function", -1),), ranges=(SymbolRange(whole, whole),)
    )

    def text_in(span):
        return above.encode() if span.start == Position(0, 0) and span.end == whole.start else b"f(){}"

    assert document("pay.js", symbols, 0, text_in)["around"] == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('"""Pays.\n\nTwice."""\nimport os\n', "Pays.\n\nTwice."),
        ("#!/bin/sh\n# -*- coding: utf-8 -*-\n\n'''Pays.'''\n", "Pays."),
        ("# Copyright somebody\n\n# Pays.\n# Twice.\nimport os\n", "Pays.\nTwice."),
        ("// Package pay pays.\npackage pay\n", "Package pay pays."),
        ("/* Licensed by somebody */\n/**\n * Pays.\n */\nimport a from 'a';\n", "Pays."),
        ("# -*- coding: utf-8 -*-\n# Pays what is licensed.\nimport os\n", "Pays what is licensed."),
        ("# vim: set ts=4:\n\n# Reads the licence of a wheel.\n", "Reads the licence of a wheel."),
        (
            "# Transcoding: how sounds are made smaller.\n\nx = 1\n",
            "Transcoding: how sounds are made smaller.",
        ),
        ("// Finds copyright lines in files.\npackage a\n", "Finds copyright lines in files."),
        ("# encoding=latin-1\nimport os\n", ""),
        ("# SPDX-License-Identifier: MIT\n\n# Pays.\n", "Pays."),
        ("/*\n * Pays. Copyright (c) 2024 Ann\n */\n/* Twice. */\n", "Twice."),
        (
            "// Use of this source code is governed by a\n// BSD-style licence.\n\n// Pays.\npackage a\n",
            "Pays.",
        ),
        ("# This file may be used under the terms\n# of the GPL.\n", ""),
        ("import os\n# Not at the beginning.\n", ""),
        ('/* Copyright x */\n#include <stdio.h>\n#include "sql.h"\n', ""),
        ("#[derive(Clone)]\n", ""),
        ("# if it fails, ask again\n\nx = 1\n", "if it fails, ask again"),
        ("#!/bin/sh\n", ""),
        ("", ""),
    ],
)
def test_what_a_file_says_where_it_begins(text, said):
    assert opening(text) == said
