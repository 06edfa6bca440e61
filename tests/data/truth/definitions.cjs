// Definitions of TypeScript and JavaScript files as the TypeScript compiler's parser sees them.
// Usage: NODE_PATH=<folder with the typescript package> node definitions.cjs FILE…
// Prints one JSON object: file as given -> [[qualname, kind, first line, last line], …] in text order, lines 1-based,
// or null for a file that the compiler itself can't parse. Overload signatures are listed; folding is the reader's.
//
// A line range starts at the declaration's first token behind doc comments and decorators; a variable's is its
// declarator. Names: dotted path of namespaces, classes, interfaces, functions and names bound to object literals.
const fs = require("fs");
const ts = require("typescript");
const { SyntaxKind: Kind } = ts;

const CASTS = [Kind.ParenthesizedExpression, Kind.AsExpression, Kind.NonNullExpression, Kind.TypeAssertionExpression,
  Kind.SatisfiesExpression];
const bare = (node) => { while (node && CASTS.includes(node.kind)) node = node.expression; return node; };
const isFunction = (node) => Boolean(node) && [Kind.ArrowFunction, Kind.FunctionExpression].includes(node.kind);
const isClass = (node) => Boolean(node) && node.kind === Kind.ClassExpression;

/** a.b.c of a chain of plain names, else null. */
function chain(node) {
  const parts = [];
  for (; node.kind === Kind.PropertyAccessExpression; node = node.expression) parts.unshift(node.name.text);
  return node.kind === Kind.Identifier ? [node.text, ...parts].join(".") : null;
}

function memberName(name) {
  if (!name) return null;
  if (name.kind === Kind.ComputedPropertyName) {
    const path = chain(name.expression);
    return path && `[${path}]`;
  }
  return typeof name.text === "string" ? name.text : null;
}

function definitionsOf(file) {
  const text = fs.readFileSync(file, "utf8");
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  if (source.parseDiagnostics.length) return null;
  const found = [];
  const lineAt = (offset) => source.getLineAndCharacterOfPosition(offset).line + 1;

  function startOf(node) {
    const decorators = (ts.canHaveDecorators(node) && ts.getDecorators(node)) || [];
    if (!decorators.length) return node.getStart(source);
    const behind = Math.max(...decorators.map((d) => d.end));
    const next = (node.modifiers || []).find((m) => m.kind !== Kind.Decorator && m.pos >= behind);
    if (next) return next.getStart(source);
    return behind + text.slice(behind).search(/\S/);
  }
  function define(kind, scope, name, node) {
    const path = [...scope, name];
    found.push([path.join("."), kind, lineAt(startOf(node)), lineAt(node.end)]);
    return path;
  }
  /** The scope of what stands in `node`; defines what it defines. */
  function enter(node, scope) {
    const name = node.name && (node.name.text ?? null);
    switch (node.kind) {
      case Kind.FunctionDeclaration: return define(node.body ? "function" : "overload", scope, name ?? "default", node);
      case Kind.ClassDeclaration: return define("class", scope, name ?? "default", node);
      case Kind.InterfaceDeclaration: return define("interface", scope, name, node);
      case Kind.EnumDeclaration: return define("enum", scope, name, node);
      case Kind.TypeAliasDeclaration: return define("type", scope, name, node);
      case Kind.Constructor: return define(node.body ? "method" : "method_sig", scope, "constructor", node);
      case Kind.MethodDeclaration: case Kind.GetAccessor: case Kind.SetAccessor: case Kind.MethodSignature: {
        const member = memberName(node.name);
        return member === null ? scope : define(node.body ? "method" : "method_sig", scope, member, node);
      }
      case Kind.VariableDeclaration: case Kind.PropertyDeclaration: case Kind.PropertyAssignment: {
        const variable = node.kind === Kind.VariableDeclaration;
        const target = variable && node.name.kind !== Kind.Identifier ? null : memberName(node.name);
        const value = bare(node.initializer);
        if (target === null || !value) return scope;
        if (isFunction(value)) return define(variable ? "function" : "method", scope, target, node);
        if (isClass(value)) return define("class", scope, target, node);
        return value.kind === Kind.ObjectLiteralExpression ? [...scope, target] : scope;
      }
      case Kind.BinaryExpression: {
        const assigned = node.operatorToken.kind === Kind.EqualsToken ? bare(node.right) : null;
        const nameable = [Kind.Identifier, Kind.PropertyAccessExpression].includes(node.left.kind);
        if (!nameable || !(isFunction(assigned) || isClass(assigned))) return scope;
        return define(isClass(assigned) ? "class" : "function", scope, node.left.getText(source), node);
      }
      case Kind.ExportAssignment: {
        const value = node.expression;
        if (!isFunction(value) && !isClass(value)) return scope;
        return define(isClass(value) ? "class" : "function", scope, "default", value);
      }
      default: return scope;
    }
  }
  function read(node, scope) {
    if (node.kind === Kind.ModuleDeclaration) {
      let [inner, path] = [node, node.name.text];
      for (; inner.body && inner.body.kind === Kind.ModuleDeclaration; path += `.${inner.name.text}`) inner = inner.body;
      const held = define("namespace", scope, path, node);
      if (inner.body) read(inner.body, held);
      return;
    }
    const held = enter(node, scope);
    ts.forEachChild(node, (child) => read(child, held));
  }
  read(source, []);
  return found;
}

const result = Object.fromEntries(process.argv.slice(2).map((file) => [file, definitionsOf(file)]));
process.stdout.write(JSON.stringify(result));
