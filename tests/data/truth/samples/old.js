#!/usr/bin/env node
"use strict";
const fs = require("fs");
const { join, resolve: absolute } = require("path");

/**
 * Reads a thing.
 * @param {string} name
 */
exports.read = function (name) {
  return fs.readFileSync(join(name, `a${absolute(name)}b`));
};

function Thing() {}
Thing.prototype.go = function go() {
  this.stop();
};
Thing.prototype.stop = () => {};

class Base extends Thing {
  static field = () => 1;
  #hidden() {}
  get value() {
    return 1;
  }
}

var self = this,
  later = async function () {};

module.exports = {
  Thing,
  make: function () {
    return new Thing();
  },
  run() {},
};

function* generate() {}
if (true) {
  function conditional() {}
} else {
  function conditional() {}
}
export default () => /regex{/.test("x");
