/** Sends the server what the user has set, and only that (see `core/settings.ts`). */

import * as vscode from 'vscode';
import {
  DidChangeConfigurationNotification,
  type BaseLanguageClient,
  type ConfigurationParams,
} from 'vscode-languageclient/node';
import manifest from '../package.json';
import { explicitSettings, subtree, type Nested } from './core/settings';

const SECTION = 'mnemolens';
const KEYS = manifest.contributes.configuration.flatMap((group) => Object.keys(group.properties));

/** All set values, under `mnemolens`, for one folder or for the window. */
function currentSettings(resource?: vscode.Uri): Nested {
  const configuration = vscode.workspace.getConfiguration(undefined, resource ?? null);
  return explicitSettings(KEYS, (key) => configuration.inspect(key));
}

/** What the window's user has set, as the server takes it: without the section's name. */
export function serverSettings(resource: vscode.Uri | undefined = vscode.workspace.workspaceFolders?.[0]?.uri): unknown {
  return subtree(currentSettings(resource), SECTION) ?? {};
}

/** Replaces the library's pull and push of settings, which send every default. */
export function configurationMiddleware(client: () => BaseLanguageClient | undefined): {
  configuration: (params: ConfigurationParams) => unknown[];
  didChangeConfiguration: () => Promise<void>;
} {
  return {
    configuration: (params) =>
      params.items.map((item) => {
        const resource = item.scopeUri === undefined ? undefined : vscode.Uri.parse(item.scopeUri);
        return subtree(currentSettings(resource), item.section ?? SECTION) ?? {};
      }),
    didChangeConfiguration: async () => {
      const current = client();
      // a client that has ended would start again to send it
      if (current?.isRunning() === true) {
        const settings = { [SECTION]: serverSettings() };
        await current.sendNotification(DidChangeConfigurationNotification.type, { settings });
      }
    },
  };
}
