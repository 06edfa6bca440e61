// What each call and each JSX element in a folder of TypeScript or JavaScript goes to, as the TypeScript compiler's
// checker sees it.
// Usage: node ts_calls.mjs TYPESCRIPT_MODULE FOLDER
// Prints one JSON object: file relative to FOLDER -> [[line, column, answered, [[file, line], …]], …]: 0-based line
// and UTF-16 column of the called name; whether the checker knows a declaration at all; the functions and classes of
// the folder that it can be, each with the 0-based line of its name.
import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const [module, folder] = process.argv.slice(2);
const ts = createRequire(import.meta.url)(module);
const root = path.resolve(folder);

function* sources(at) {
  for (const entry of readdirSync(at, { withFileTypes: true })) {
    const full = path.join(at, entry.name);
    if (entry.isDirectory()) {
      if (!["node_modules", ".git"].includes(entry.name)) yield* sources(full);
    } else if (/\.(?:[cm]?[jt]s|[jt]sx)$/.test(entry.name) && !/\.d\.[cm]?ts$/.test(entry.name)) yield full;
  }
}

const program = ts.createProgram([...sources(root)], {
  allowJs: true, checkJs: false, noEmit: true, strict: true, jsx: ts.JsxEmit.Preserve, target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler, allowImportingTsExtensions: true,
  types: [], maxNodeModuleJsDepth: 0, experimentalDecorators: true, skipLibCheck: true,
});
const checker = program.getTypeChecker();
const inFolder = (file) => file.fileName.startsWith(root + path.sep) && !file.fileName.includes("/node_modules/");

function bare(node) {
  while (node && (ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isNonNullExpression(node)
    || ts.isTypeAssertionExpression(node) || ts.isSatisfiesExpression(node))) node = node.expression;
  return node;
}
const isFunction = (node) => Boolean(node) && (ts.isArrowFunction(node) || ts.isFunctionExpression(node));

/** The name of a declaration that is a function or class, else null. */
function named(declaration) {
  if (ts.isFunctionDeclaration(declaration) || ts.isClassDeclaration(declaration)
    || ts.isMethodDeclaration(declaration) || ts.isMethodSignature(declaration)
    || ts.isGetAccessor(declaration) || ts.isSetAccessor(declaration)) return declaration.name ?? declaration;
  if (ts.isConstructorDeclaration(declaration)) return named(declaration.parent);
  if (isFunction(declaration) || ts.isClassExpression(declaration)) {
    const holder = declaration.parent;
    return holder && named(holder);
  }
  if (ts.isVariableDeclaration(declaration) || ts.isPropertyDeclaration(declaration)
    || ts.isPropertyAssignment(declaration)) {
    const value = bare(declaration.initializer);
    return isFunction(value) || (value && ts.isClassExpression(value)) ? declaration.name : null;
  }
  if (ts.isBinaryExpression(declaration)) {
    const value = bare(declaration.right);
    return isFunction(value) || (value && ts.isClassExpression(value)) ? declaration.left : null;
  }
  if (ts.isPropertyAccessExpression(declaration) && ts.isBinaryExpression(declaration.parent)) {
    return named(declaration.parent);
  }
  return null;
}

function symbolAt(name) {
  let symbol = checker.getSymbolAtLocation(name);
  if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
  return symbol;
}

const found = {};
for (const file of program.getSourceFiles()) {
  if (!inFolder(file)) continue;
  const calls = [];
  const visit = (node) => {
    const isTag = ts.isJsxOpeningElement(node) || ts.isJsxSelfClosingElement(node);
    if (ts.isCallExpression(node) || ts.isNewExpression(node) || isTag) {
      const callee = bare(isTag ? node.tagName : node.expression);
      const name = ts.isPropertyAccessExpression(callee) ? callee.name : ts.isIdentifier(callee) ? callee : null;
      if (name) {
        const declarations = symbolAt(name)?.declarations ?? [];
        const targets = [];
        for (const declaration of declarations) {
          const its = named(declaration);
          const where = declaration.getSourceFile();
          if (its && inFolder(where)) {
            const line = where.getLineAndCharacterOfPosition(its.getStart(where)).line;
            targets.push([path.relative(root, where.fileName), line]);
          }
        }
        const { line, character } = file.getLineAndCharacterOfPosition(name.getStart(file));
        calls.push([line, character, declarations.length > 0, targets]);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  if (calls.length) found[path.relative(root, file.fileName)] = calls;
}
process.stdout.write(JSON.stringify(found));
