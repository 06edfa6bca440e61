/**
 * Which settings are sent to the server: only those that the user has set.
 *
 * The editor's settings win over the repository's `.mnemolens.yaml`. If the defaults of package.json were sent
 * too, they would win over that file as well, and it could never change anything.
 */

/** What VS Code knows of one key, as `WorkspaceConfiguration.inspect` gives it. */
export interface Inspected {
  globalValue?: unknown;
  workspaceValue?: unknown;
  workspaceFolderValue?: unknown;
}

/** A tree of settings; the leaves are whatever the user wrote. */
export type Nested = Record<string, unknown>;

/** The value that the user has set, the narrowest scope first; undefined when none has. */
export function chosen(inspected: Inspected | undefined): unknown {
  return inspected?.workspaceFolderValue ?? inspected?.workspaceValue ?? inspected?.globalValue;
}

/** The keys' set values as a tree: `hover.maxItems` becomes `{hover: {maxItems: …}}`. */
export function explicitSettings(keys: readonly string[], inspect: (key: string) => Inspected | undefined): Nested {
  const tree: Nested = {};
  for (const key of keys) {
    const value = chosen(inspect(key));
    if (value === undefined || value === null || value === '') {
      continue; // a text field that was cleared is not set
    }
    const path = key.split('.');
    const last = path.pop() ?? key;
    let node = tree;
    for (const part of path) {
      node[part] ??= {};
      node = node[part] as Nested;
    }
    node[last] = value;
  }
  return tree;
}

/** The subtree under a dotted section, null when nothing is set there. */
export function subtree(tree: Nested, section: string): unknown {
  let node: unknown = tree;
  for (const part of section.split('.')) {
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, part)) {
      return null;
    }
    node = (node as Nested)[part];
  }
  return node;
}
